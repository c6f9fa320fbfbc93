import type { PlanResult, SettlementInput } from './account-input.ts'
import { type OverridesOf, overridesByStatement } from './added-overrides.ts'
import { differencesUpTo, keepClosed } from './adjustments.ts'
import { isClosed, manualEntriesIn } from './books.ts'
import { endingWithin, type Period } from './calendar.ts'
import type { PeriodContext } from './context.ts'
import { compareText } from './facts.ts'
import type { Line } from './line.ts'
import { settleOverrides } from './override.ts'
import type { OwnResults } from './own-lines.ts'
import { type Plan, planKey } from './plans-in-force.ts'
import { NOTHING, type Ratio } from './ratio.ts'
import { withRestoring } from './restoring.ts'
import { holdsOf, inOrder, mergeHolds } from './settle.ts'
import { rulePositions } from './settle-plan.ts'
import {
  addMeasure,
  earlierMeasure,
  measureKey,
  type OpenState,
  openState,
  type PlanState,
} from './state.ts'
import { addUpStatement, openingOf } from './statement.ts'
import { type PeriodTallies, talliesOf } from './tallies.ts'
import { balancesReceivedIn, departureFrom } from './transfer.ts'

/** Makes the override lines of all affiliates in a period. */
export function settleAllOverrides(
  input: SettlementInput,
  period: Period,
  tallies: PeriodTallies,
  ownIn: (period: Period) => OwnResults,
  before: readonly PlanResult[] | null,
): OverridesOf[] {
  const context: PeriodContext = { ...input, period }
  const within = endingWithin(period)
  const linesWithin = (affiliate: string): Line[] =>
    within.flatMap((one) =>
      [...(ownIn(one).get(affiliate)?.values() ?? [])].flatMap(({ lines }) => lines),
    )
  const stateBefore = statesBefore(input, before)
  return input.affiliates.flatMap((affiliate) => {
    const found = settleOverrides(
      context,
      affiliate,
      talliesOf(tallies, affiliate),
      linesWithin,
      ({ plan, version }, { id, tiers }) =>
        earlierMeasure(
          stateBefore(affiliate, plan).measures[measureKey(id, version)],
          tiers?.window ?? 'period',
          period.last,
        ),
    )
    return found ? [{ affiliate, period, ...found }] : []
  })
}

/**
 * Adds overrides and what other plans transferred, and closes the statements.
 *
 * @param transferring The results of the periods that `transferringInto` returns.
 */
export function settleAll(
  input: SettlementInput,
  period: Period,
  tallies: PeriodTallies,
  own: OwnResults,
  overridesIn: (period: Period) => readonly OverridesOf[],
  before: readonly PlanResult[] | null,
  transferring: readonly PlanResult[],
): PlanResult[] {
  const overrides = endingWithin(period).flatMap(overridesIn)
  const stateBefore = statesBefore(input, before)
  const differencesBefore = differencesUpTo(before)
  const receivedBy = balancesReceivedIn(input, period, transferring)
  const overridesFor = overridesByStatement(overrides, period)
  const inOrderOfId = [...own].sort(([a], [b]) => compareText(a, b))
  return inOrderOfId.flatMap(([affiliate, plans]) =>
    [...plans.values()].map(({ plan, lines, state }) => {
      const earlier = stateBefore(affiliate, plan.plan)
      const books = input.booksOf(affiliate, plan.plan)
      const differences = differencesBefore(affiliate, plan.plan)
      const added = overridesFor(affiliate, plan.plan)
      const all = [...orderLines(plan, [...lines, ...added.lines]), ...added.funded]
      const open = withOverrideMeasures(openState(state), earlier, plan, added.measures, period)
      const head = { affiliate, plan, period }
      if (books !== null && isClosed(books, period)) {
        return { ...head, closed: true, ...keepClosed(books, period, all, open, differences) }
      }
      const holds = holdsOf({ plan, tallies: talliesOf(tallies, affiliate) }, lines)
      const settled = addUpStatement(
        affiliate,
        plan,
        period,
        all,
        mergeHolds(plan, [...holds, ...added.holds]),
        open,
        {
          carried: openingOf(earlier),
          received: receivedBy(affiliate, plan.plan),
          departure: departureFrom(input, affiliate, plan, period),
        },
        {
          adjustments: books ? withRestoring(books, differences) : [],
          manual: manualEntriesIn(books, period),
        },
      )
      return { ...head, closed: false, ...settled }
    }),
  )
}

/** Returns what the period before left of each affiliate and plan. */
function statesBefore(
  input: SettlementInput,
  before: readonly PlanResult[] | null,
): (affiliate: string, plan: string) => PlanState {
  const states = new Map(
    before?.map(({ affiliate, plan, state }) => [planKey(affiliate, plan.plan), state]),
  )
  return (affiliate, plan) => states.get(planKey(affiliate, plan)) ?? input.stateOf(affiliate, plan)
}

/** Adds what overrides brought to the measures of their windows, for each version of a rule. */
function withOverrideMeasures(
  open: OpenState,
  earlier: PlanState,
  plan: Plan,
  measures: readonly (readonly [string, Ratio])[],
  period: Period,
): OpenState {
  for (const { rules, version } of plan.versions) {
    for (const { id, kind, tiers } of rules) {
      if (kind !== 'override' || !tiers || tiers.window === 'period') continue
      const key = measureKey(id, version)
      const measure = measures.find(([rule]) => rule === id)?.[1] ?? NOTHING
      open.measures.set(key, addMeasure(earlier.measures[key], measure, period.last))
    }
  }
  return open
}

/** Orders lines by the plan's rules, then version, then scope. */
function orderLines(plan: Plan, lines: readonly Line[]): Line[] {
  const positionOf = rulePositions(plan)
  return inOrder(lines).sort((a, b) => positionOf(a.rule.id) - positionOf(b.rule.id))
}
