import type { SettlementInput } from './account-input.ts'
import type { PeriodKind } from './calendar.ts'
import { overlapping, type Period } from './calendar.ts'
import type { PeriodContext } from './context.ts'
import { ZERO } from './decimal.ts'
import { compareText } from './facts.ts'
import type { Line } from './line.ts'
import { memoize } from './memoize.ts'
import type { Plan } from './plans-in-force.ts'
import { settlePlan } from './settle.ts'
import { countOnce, countQualified } from './settle-plan.ts'
import { closeState, NO_STATE, openState, type PlanState } from './state.ts'
import type { AffiliateSums, PeriodSums } from './sums.ts'
import { sumsOf } from './sums.ts'

/** Counts the `once` lines of affiliates below whose qualification day lies in the period. */
function countOnceBelow(
  { inForce, tree }: SettlementInput,
  period: Period,
  sumsIn: (period: Period) => PeriodSums,
  affiliate: string,
  rule: string,
): number {
  const all = [period, ...overlapping(period)].map((one) => ({ one, sums: sumsIn(one) }))
  let count = 0
  for (let level = 1; ; level++) {
    const below = tree.below(affiliate, level, period.last)
    if (below.length === 0) return count
    for (const id of below) {
      for (const { sums } of all) {
        count += linesInPeriod(inForce.plans, sums.get(id), rule, period)
      }
    }
  }
}

function linesInPeriod(
  plans: ReadonlyMap<string, Plan>,
  sums: AffiliateSums | undefined,
  rule: string,
  { first, last }: Period,
): number {
  if (sums === undefined || sums.once.length === 0) return 0
  const ofRule = sums.once.filter(({ rule: { id } }) => id === rule)
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

/** The lines of an affiliate's own facts, and the carries after them. */
export interface OwnResult {
  readonly plan: Plan
  readonly lines: readonly Line[]
  readonly state: PlanState
}

/** By affiliate, then plan. */
export type OwnResults = Map<string, Map<string, OwnResult>>

/** Makes the lines of each affiliate's own facts, without overrides. */
export function settleOwn(
  input: SettlementInput,
  period: Period,
  sumsIn: (period: Period) => PeriodSums,
  before: OwnResults | null,
): OwnResults {
  const context: PeriodContext = { ...input, period }
  const sums = sumsIn(period)
  const results: OwnResults = new Map()
  for (const affiliate of input.affiliates) {
    const byPlan = new Map<string, OwnResult>()
    results.set(affiliate, byPlan)
    const earlier = before?.get(affiliate)
    for (const plan of plansOf(input, affiliate, period.kind)) {
      const left = earlier?.get(plan.plan)?.state ?? input.stateOf(affiliate, plan.plan)
      const state = openState(left)
      const ofAffiliate = sumsOf(sums, affiliate)
      const lines = settlePlan({
        context,
        plan,
        sums: ofAffiliate,
        state,
        qualified: countQualified(plan, ofAffiliate.once),
        onceBelow: memoize((rule) => countOnceBelow(input, period, sumsIn, affiliate, rule)),
      })
      byPlan.set(plan.plan, { plan, lines, state: closeState(state, ZERO) })
    }
  }
  return results
}

/** Returns the plans with periods of a kind under which an affiliate can have lines. */
export function plansOf(
  { inForce, stateOf, booksOf }: SettlementInput,
  affiliate: string,
  kind: PeriodKind,
): Plan[] {
  const names = new Set(inForce.assignmentsOf(affiliate).map(({ plan }) => plan))
  for (const name of inForce.plans.keys()) {
    if (stateOf(affiliate, name) !== NO_STATE || booksOf(affiliate, name) !== null) names.add(name)
  }
  return [...names].sort(compareText).flatMap((name) => {
    const plan = inForce.plans.get(name)
    return plan && plan.first.period === kind ? [plan] : []
  })
}
