import type { SettlementInput } from './account-input.ts'
import { overlapping, type Period } from './calendar.ts'
import type { Plan } from './plans-in-force.ts'
import { countOnce, countQualified } from './settle-plan.ts'
import type { AffiliateTallies, PeriodTallies } from './tally.ts'

/** Counts the `once` lines of affiliates below whose qualification day lies in the period. */
export function countOnceBelow(
  { inForce, tree }: SettlementInput,
  period: Period,
  talliesIn: (period: Period) => PeriodTallies,
  affiliate: string,
  rule: string,
): number {
  const all = [period, ...overlapping(period)].map((one) => ({ one, tallies: talliesIn(one) }))
  let count = 0
  for (let level = 1; ; level++) {
    const below = tree.below(affiliate, level, period.last)
    if (below.length === 0) return count
    for (const id of below) {
      for (const { tallies } of all) {
        count += linesInPeriod(inForce.plans, tallies.get(id), rule, period)
      }
    }
  }
}

function linesInPeriod(
  plans: ReadonlyMap<string, Plan>,
  tallies: AffiliateTallies | undefined,
  rule: string,
  { first, last }: Period,
): number {
  if (tallies === undefined || tallies.once.length === 0) return 0
  const ofRule = tallies.once.filter(({ rule: { id } }) => id === rule)
  let count = 0
  for (const [name, states] of Map.groupBy(ofRule, ({ version }) => version.plan)) {
    const plan = plans.get(name)
    const inPeriod = plan
      ? countQualified(plan, states)
          .get(rule)
          ?.filter(({ state }) => state.day >= first && state.day <= last)
      : undefined
    count += inPeriod ? countOnce({ qualified: new Map([[rule, inPeriod]]) }, rule) : 0
  }
  return count
}
