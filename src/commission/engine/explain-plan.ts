import { nextPeriod } from './calendar.ts'
import type { ExplainContext } from './explain-input.ts'
import type { Line } from './line.ts'
import { countOnceBelow } from './network-count.ts'
import type { Plan } from './plans-in-force.ts'
import { countQualified, type PlanInput } from './settle-plan.ts'
import { NO_STATE, openState, type PlanState } from './state.ts'
import { talliesOf } from './tallies.ts'

/** Returns what the period before left of an affiliate and plan. */
export function stateBefore(
  { settlement, period }: ExplainContext,
  affiliate: string,
  plan: string,
): PlanState {
  const { input, settle } = settlement
  if (period.first <= input.firstDay[period.kind]) return input.stateOf(affiliate, plan)
  const before = settle(nextPeriod(period, -1)).find(
    (one) => one.affiliate === affiliate && one.plan.plan === plan,
  )
  return before?.state ?? NO_STATE
}

/** Returns what the lines of an affiliate and plan were made from, as it was before them. */
export function planInputOf(context: ExplainContext, affiliate: string, plan: Plan): PlanInput {
  const { settlement, period } = context
  const tallies = talliesOf(settlement.tallies(period), affiliate)
  return {
    context,
    affiliate,
    plan,
    tallies,
    state: openState(stateBefore(context, affiliate, plan.plan)),
    qualified: countQualified(plan, [...tallies.once]),
    onceBelow: (rule) =>
      countOnceBelow(settlement.input, period, settlement.tallies, affiliate, rule),
  }
}

/** Whether an upline's override booked the line: such lines have neither a base nor units. */
export const isFunded = ({ rule, base, units }: Line): boolean =>
  rule.kind === 'override' && base === null && units === null

/** Returns the lines that one rule id made in a statement, in the order in which they were made. */
export function linesOfRule(plan: Plan, lines: readonly Line[], { rule }: Line): Line[] {
  const position = new Map(plan.versions.map((version, index) => [version, index]))
  const at = ({ version }: Line): number => position.get(version) ?? 0
  return lines
    .filter((one) => one.rule.id === rule.id && one.rule.kind === rule.kind && !isFunded(one))
    .sort((a, b) => at(a) - at(b))
}
