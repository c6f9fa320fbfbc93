import { openAccount } from '../../../src/commission/engine/account.ts'
import { parsePeriod } from '../../../src/commission/engine/calendar.ts'
import type { PlanTerms, Rule } from '../../../src/commission/engine/plan.ts'
import { replaceVersions } from '../../../src/commission/engine/simulation.ts'
import { minorDigits } from '../engine.ts'
import type { World } from '../world.ts'
import { dayOf, deposit, input, plan, terms, world } from './build.ts'
import { type Case, example } from './case.ts'

// Examples of a version that replaces those of the plan `P` from February on.

const share = (percent: string): Rule => ({
  id: 's',
  kind: 'share',
  percent,
  base: [{ transactions: ['deposit'] }, { transactions: ['withdrawal'], times: '-1' }],
  negative: 'carry',
})

/** Returns the lines of some months: rule, version, amount and what was carried in. */
function simulate(of: World, version: PlanTerms, ...periods: string[]): string[] {
  const found = input(of)
  const replaced = found.inForce.plans.get('P')!
  const from = dayOf('2026-02-01')
  const inForce = replaceVersions(found.inForce, replaced, version, from, minorDigits)
  const account = openAccount({ ...found, inForce })
  return periods.flatMap((period) =>
    account
      .settle(parsePeriod(period)!)
      .flatMap(({ statement }) =>
        (statement?.lines ?? []).map(
          (one) => `${period} ${one.rule} v${one.version} ${one.amount} ${one.carried_in}`,
        ),
      ),
  )
}

const MONTHS = ['2026-01', '2026-02', '2026-03'] as const

/** Examples of simulated versions. */
export const SIMULATIONS: readonly Case[] = [
  example(
    'a simulated version governs the periods from its first day on, and the stored ones those before',
    () =>
      (['signup', 'current'] as const).map((kind) =>
        simulate(
          world({
            plans: [
              plan(
                'P',
                terms([share('10')], { terms: kind }),
                terms([share('30')], { terms: kind, effective_from: '2026-03-01' }),
              ),
            ],
            transactions: [
              deposit('c1', '2026-01-31', 100),
              deposit('c1', '2026-02-01', 100),
              deposit('c1', '2026-03-05', 100),
            ],
          }),
          terms([share('20')], { terms: kind }),
          ...MONTHS,
        ),
      ),
    Array.from({ length: 2 }, () => [
      '2026-01 s v1 10.00 0.00',
      '2026-02 s v3 20.00 0.00',
      '2026-03 s v3 20.00 0.00',
    ]),
  ),
  example(
    'what the stored version carries is carried by the simulated one',
    () =>
      simulate(
        world({
          plans: [plan('P', terms([share('10')]))],
          transactions: [
            deposit('c1', '2026-01-05', 100, { transaction_type: 'withdrawal' }),
            deposit('c1', '2026-02-05', 100),
          ],
        }),
        terms([share('20')]),
        ...MONTHS,
      ),
    // 10 % of -100.00 is carried; 20 % of 100.00 more is 10.00.
    ['2026-01 s v1 0.00 0.00', '2026-02 s v2 10.00 -10.00'],
  ),
]
