import type { AccountInput, PlanResult } from './account-input.ts'
import type { Plan } from './book.ts'
import { overlapping, type Period } from './calendar.ts'
import type { PeriodContext } from './context.ts'
import { compareText } from './facts.ts'
import type { Line } from './line.ts'
import { type Overrides, settleOverrides } from './override.ts'
import type { OwnResults } from './own-lines.ts'
import { holdsOf, inOrder, mergeHolds, type StatementHold } from './settle.ts'
import { ruleOrder } from './settle-plan.ts'
import { NO_STATE, openState } from './state.ts'
import { closeStatement, openingOf } from './statement.ts'
import { type PeriodTallies, talliesOf } from './tallies.ts'

/** Adds overrides, and closes the statements. */
export function settleAll(
  input: AccountInput,
  period: Period,
  tallies: PeriodTallies,
  ownIn: (period: Period) => OwnResults,
  before: readonly PlanResult[] | null,
): PlanResult[] {
  const context: PeriodContext = { ...input, period }
  const within = [period, ...overlapping(period)].filter(
    ({ last }) => last >= period.first && last <= period.last,
  )
  const linesWithin = (affiliate: string): Line[] =>
    within.flatMap((one) =>
      [...(ownIn(one).get(affiliate)?.values() ?? [])].flatMap(({ lines }) => lines),
    )
  const overrides = input.affiliates.flatMap((affiliate) => {
    const found = settleOverrides(context, affiliate, talliesOf(tallies, affiliate), linesWithin)
    return found ? [{ affiliate, ...found }] : []
  })
  const closings = new Map(
    before?.map(({ affiliate, plan, state }) => [planKey(affiliate, plan.plan), state]),
  )
  return [...input.affiliates].sort(compareText).flatMap((affiliate) =>
    [...(ownIn(period).get(affiliate)?.values() ?? [])].map((own) => {
      const earlier = before
        ? closings.get(planKey(affiliate, own.plan.plan))
        : input.stateOf(affiliate, own.plan.plan)
      const added = overridesIn(overrides, affiliate, own.plan)
      const holds = holdsOf({ plan: own.plan, tallies: talliesOf(tallies, affiliate) })
      const settled = closeStatement(
        affiliate,
        own.plan,
        period,
        [...orderLines(own.plan, [...own.lines, ...added.lines]), ...added.funded],
        mergeHolds(own.plan, [...holds, ...added.holds]),
        openState(own.state),
        openingOf(earlier ?? NO_STATE),
      )
      return { affiliate, plan: own.plan, ...settled }
    }),
  )
}

const planKey = (affiliate: string, plan: string): string => JSON.stringify([affiliate, plan])

/** Picks the override lines, funded lines and holds of one statement. */
function overridesIn(
  overrides: readonly (Overrides & { readonly affiliate: string })[],
  affiliate: string,
  { plan }: Plan,
): { lines: Line[]; funded: Line[]; holds: StatementHold[] } {
  const ofStatement = (one: { affiliate: string; version: { plan: string } }): boolean =>
    one.affiliate === affiliate && one.version.plan === plan
  return {
    lines: overrides.filter(ofStatement).flatMap(({ lines }) => lines),
    funded: overrides
      .flatMap(({ funded }) => funded)
      .filter(ofStatement)
      .map(({ line }) => line)
      .sort((a, b) => compareText(a.rule.id, b.rule.id) || compareText(a.scope, b.scope)),
    holds: overrides
      .flatMap(({ holds }) => holds)
      .filter(ofStatement)
      .map(({ hold }) => hold),
  }
}

/** Orders lines by the plan's rules, then version, then scope. */
function orderLines(plan: Plan, lines: readonly Line[]): Line[] {
  const position = new Map(ruleOrder(plan).map(({ id }, index) => [id, index]))
  const at = ({ rule }: Line): number => position.get(rule.id) ?? position.size
  return inOrder(lines).sort((a, b) => at(a) - at(b))
}
