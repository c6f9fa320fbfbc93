import type { SettlementInput } from './account-input.ts'
import type { Period, PeriodKind } from './calendar.ts'
import type { PeriodContext } from './context.ts'
import { ZERO } from './decimal.ts'
import { compareText } from './facts.ts'
import type { Line } from './line.ts'
import type { Plan } from './plans-in-force.ts'
import { settlePlan } from './settle.ts'
import { countQualified } from './settle-plan.ts'
import { closeState, NO_STATE, openState, type PlanState } from './state.ts'
import { type PeriodTallies, talliesOf } from './tally.ts'

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
  tallies: PeriodTallies,
  before: OwnResults | null,
): OwnResults {
  const context: PeriodContext = { ...input, period }
  const results: OwnResults = new Map()
  for (const affiliate of input.affiliates) {
    const byPlan = new Map<string, OwnResult>()
    results.set(affiliate, byPlan)
    const earlier = before?.get(affiliate)
    for (const plan of plansOf(input, affiliate, period.kind)) {
      const left = earlier?.get(plan.plan)?.state ?? input.stateOf(affiliate, plan.plan)
      const state = openState(left)
      const ofAffiliate = talliesOf(tallies, affiliate)
      const lines = settlePlan({
        context,
        affiliate,
        plan,
        tallies: ofAffiliate,
        state,
        qualified: countQualified(plan, ofAffiliate.once),
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
