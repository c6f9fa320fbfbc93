import { firstDayOf, parsePeriod } from '../../../src/commission/engine/calendar.ts'
import { ownersOf } from '../../../src/commission/engine/context.ts'
import { rateFinder } from '../../../src/commission/engine/convert.ts'
import { decimal, plainText } from '../../../src/commission/engine/decimal.ts'
import { evaluateCustomer, factEvaluator } from '../../../src/commission/engine/evaluate.ts'
import { type Line, recoupedBy } from '../../../src/commission/engine/line.ts'
import type { Rule } from '../../../src/commission/engine/plan.ts'
import {
  buildPlansInForce,
  versionOn,
  versionsOf,
} from '../../../src/commission/engine/plans-in-force.ts'
import type { CompiledShare } from '../../../src/commission/engine/rules.ts'
import {
  type OverridesOf,
  overridesByStatement,
} from '../../../src/commission/engine/statements.ts'
import { minorDigits } from '../engine.ts'
import type { World } from '../world.ts'
import {
  at,
  compile,
  cpa,
  customer,
  dayOf,
  deposit,
  fact,
  input,
  lines,
  plan,
  terms,
  world,
  worldOf,
} from './build.ts'
import { type Case, example } from './case.ts'

// Examples at the edges: the earliest supported day, versions of one day, and affiliates without a plan.

const SHARE: Rule = {
  id: 's',
  kind: 'share',
  percent: '10',
  base: [{ transactions: ['deposit'] }],
}

const versions: readonly Case[] = [
  example('of versions with one first day the later one governs', () => {
    const inForce = buildPlansInForce({
      plans: [
        {
          plan: 'P',
          versions: [3, 1, 2].map((version) => ({ version, terms: terms([SHARE]) })),
        },
      ],
      assignments: [],
      minorDigits,
    })
    const found = inForce.plans.get('P')!
    return [
      versionsOf(inForce, 'P').map(({ version }) => version),
      versionOn(found, dayOf('2026-01-01')).version,
      found.first.version,
      versionsOf(inForce, 'unknown'),
    ]
  }, [[1, 2, 3], 3, 1, []]),
  example(
    'the first day of the period of a day',
    () =>
      (['month', 'week'] as const).flatMap((kind) =>
        ['2026-01-15', '2026-03-01', '1969-12-31'].map(
          (day) => firstDayOf(dayOf(day), kind) - dayOf(day),
        ),
      ),
    // A Thursday, a Sunday and a Wednesday.
    [-14, 0, -30, -3, -6, -2],
  ),
  example('1970-01-01 is a day as any other', () => {
    const of = worldOf([SHARE], {
      assignments: [{ affiliate_id: '*', plan: 'P', from: '1969-12-01', customers: 'all' }],
    })
    const found = input(of)
    const ownerOf = ownersOf(found, found.customers[0]!)
    const rateOf = rateFinder({ rates: [], lastDay: null })
    return [ownerOf(fact({ day: 0 })).affiliate, rateOf('USD', 0)]
  }, ['A', 'fx_pending']),
  example('of qualifications under several versions the earliest counts, not that of the first version', () => {
    const signedUp = { terms: 'current' } as const
    const of = world({
      plans: [
        plan(
          'P',
          terms(
            [cpa({ qualify: [{ sum: [{ transactions: ['deposit'] }], min: '500' }] })],
            signedUp,
          ),
          terms([cpa({ trigger: { transactions: ['deposit'], min: '200' }, amount: '30' })], {
            ...signedUp,
            effective_from: '2026-02-01',
          }),
        ),
      ],
      transactions: [
        deposit('c1', '2026-01-05', 100),
        deposit('c1', '2026-02-05', 200),
        deposit('c1', '2026-03-05', 300),
      ],
    })
    return ['2026-01', '2026-02', '2026-03'].flatMap((month) => lines(of, month))
  }, ['A cpa customer:c1 30.00']),
  example('steps of a slice are used up by customers in order of id, not of their deposits', () => {
    const rule: Rule = {
      id: 's',
      kind: 'share',
      per: 'customer',
      base: [{ transactions: ['deposit'] }],
      tiers: {
        mode: 'slice',
        steps: [
          { from: '0', percent: '10' },
          { from: '100', percent: '20' },
        ],
      },
    }
    const of = worldOf([rule], {
      customers: [customer('c2'), customer('c1')],
      transactions: [deposit('c2', '2026-01-02', 100), deposit('c1', '2026-01-05', 100)],
    })
    return lines(of, '2026-01')
  }, ['A s customer:c1 10.00', 'A s customer:c2 20.00']),
  example('a rule id can have another kind in another version', () => {
    const unit: Rule = {
      id: 's',
      kind: 'unit',
      unit: { count: { transactions: ['deposit'] } },
      amount: '2',
    }
    const of = world({
      plans: [plan('P', terms([SHARE]), terms([unit], { effective_from: '2026-02-01' }))],
      customers: [customer('c1'), customer('c2', { signup: at('2026-02-02') })],
      transactions: [deposit('c1', '2026-02-05', 100), deposit('c2', '2026-02-06', 100)],
    })
    return lines(of, '2026-02')
  }, ['A s affiliate 10.00', 'A s affiliate 2.00']),
  example('a share recoups what other versions paid once only under `current`', () => {
    const rule = compile<CompiledShare>({ ...SHARE, recoups: 'cpa' } as Rule)
    const versionOf = (kind: string) => ({ version: 2, terms: kind }) as never
    const paid = (id: string, version: object, amount: string): Line =>
      ({ rule: { id }, version, amount: decimal(amount) }) as never
    return ['current', 'signup'].map((kind) => {
      const own = versionOf(kind)
      const once = [paid('cpa', own, '5'), paid('cpa', {}, '7'), paid('other', own, '9')]
      return plainText(recoupedBy(rule, own, once))
    })
  }, ['12', '5']),
  example('deposits from the day on which a customer is refused do not qualify', () => {
    const of = worldOf([cpa({ qualify: [{ sum: [{ transactions: ['deposit'] }], min: '100' }] })], {
      customers: [customer('c1', { refused: { from: '2026-01-10' } })],
      transactions: [deposit('c1', '2026-01-05', 60), deposit('c1', '2026-01-12', 60)],
    })
    const found = input(of)
    return evaluateCustomer(found, found.customers[0]!).once.map(({ status, progress }) => [
      status,
      progress.map((one) => one.status === 'open' && one.reached && plainText(one.reached)),
    ])
  }, [['open', ['60']]]),
]

/** Builds a world in which `U` earns from deposits below it, which `A` funds. */
const funded = (plans: readonly string[], more: Partial<World> = {}): World =>
  world({
    affiliates: [
      { affiliate_id: 'A', parents: [{ from: null, parent: 'U' }] },
      { affiliate_id: 'U', parents: [] },
    ],
    plans: [
      plan('P', terms([SHARE])),
      plan(
        'O',
        terms([
          {
            id: 'up',
            kind: 'override',
            level: 1,
            of: { base: [{ transactions: ['deposit'] }] },
            percent: '1',
            funded_by: 'downline',
          },
        ]),
      ),
    ],
    assignments: [
      ...plans.map((name) => ({
        ...{ affiliate_id: 'A', plan: name, from: '2026-01-01', customers: 'all' as const },
      })),
      { affiliate_id: 'U', plan: 'O', from: '2026-01-01', customers: 'all' },
    ],
    transactions: [deposit('c1', '2026-01-05', 100)],
    ...more,
  })

/** Returns the verdict of each deposit, and the rule that it comes from. */
const verdicts = (of: World): string[] => {
  const found = input(of)
  const evaluator = factEvaluator(found)
  return found.customers.flatMap((one) => {
    const evaluated = evaluateCustomer(found, one)
    return one.facts
      .filter(({ resource }) => resource === 'transactions')
      .map((each) => {
        const { verdict, by, rules } = evaluator(evaluated, each)
        return `${verdict} ${by?.rule.id} of ${rules.map(({ rule }) => rule.id)}`
      })
  })
}

const overridesBelow: readonly Case[] = [
  example('an affiliate without a plan funds no override, and its facts earn nothing', () => {
    const of = funded([])
    return [lines(of, '2026-01'), verdicts(of)]
  }, [[], ['no_plan undefined of ']]),
  example('a fact that counts for its own plan does so even if uplines count it, too', () => {
    const of = funded(['P'])
    return [lines(of, '2026-01'), verdicts(of)]
  }, [
    ['A s affiliate 10.00', 'A up affiliate:U -1.00', 'U up affiliate:A 1.00'],
    ['counted s of s'],
  ]),
  example('an override of a `once` rule counts no line of another kind with that id', () => {
    const of = funded(['P'], {
      plans: [
        plan('P', terms([{ ...SHARE, id: 'cpa' }])),
        plan(
          'O',
          terms([{ id: 'up', kind: 'override', level: 1, of: { once: 'cpa' }, amount: '2' }]),
        ),
      ],
    })
    return lines(of, '2026-01')
  }, ['A cpa affiliate 10.00']),
  example('funded lines stand by scope, rule and version, and own holds before those of others', () => {
    const period = parsePeriod('2026-01')!
    const of = { version: { plan: 'P' }, lines: [], measures: new Map() }
    const fund = (scope: string, id: string, version: number) => ({
      affiliate: 'A',
      version: { plan: 'P' },
      line: { scope, rule: { id }, version: { version } },
    })
    const hold = (rule: string) => ({ affiliate: 'A', version: { plan: 'P' }, hold: { rule } })
    const all = [
      {
        ...of,
        ...{ affiliate: 'U', period, holds: [hold('other')] },
        funded: [fund('b', 'r', 1), fund('a', 's', 3), fund('a', 's', 1), fund('a', 'r', 9)],
      },
      { ...of, ...{ affiliate: 'A', period, holds: [hold('own')], funded: [fund('a', 's', 2)] } },
    ] as never as readonly OverridesOf[]
    const found = overridesByStatement(all, period)('A', 'P')
    return [
      found.funded.map(({ scope, rule, version }) => `${scope} ${rule.id} v${version.version}`),
      found.holds.map(({ rule }) => rule),
    ]
  }, [
    ['a r v9', 'a s v1', 'a s v2', 'a s v3', 'b r v1'],
    ['own', 'other'],
  ]),
]

/** Examples of versions, of the earliest supported day, and of overrides that affiliates below fund. */
export const EDGES: readonly Case[] = [...versions, ...overridesBelow]
