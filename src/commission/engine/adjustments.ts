import type { PlanResult } from './account-input.ts'
import {
  type BookedLine,
  closedStatement,
  type Difference,
  keyedLines,
  lineKey,
  type PlanBooks,
} from './books.ts'
import type { Period } from './calendar.ts'
import { isZero, negate, subtract, ZERO } from './decimal.ts'
import { compareText } from './facts.ts'
import type { Line } from './line.ts'
import { planKey } from './plans-in-force.ts'
import { closeState, type OpenState } from './state.ts'
import type { Settled } from './statement.ts'

/**
 * Compares the lines of a closed period, computed again, with what was approved for them so far. The
 * result is empty if nothing has changed, or if a correction was corrected back (§13).
 */
export function differencesOf(
  books: PlanBooks,
  period: Period,
  lines: readonly Line[],
): Difference[] {
  const booked = books.booked.get(period.id) ?? new Map<string, BookedLine>()
  const now = keyedLines(lines)
  const known = new Set(now.map(lineKey))
  const gone = [...booked]
    .filter(([key]) => !known.has(key))
    .sort(([a], [b]) => compareText(a, b))
    .map(([, line]) => ({ ...line, amount: negate(line.amount) }))
  const changed = now.map((line) => ({
    ...line,
    amount: subtract(line.amount, booked.get(lineKey(line))?.amount ?? ZERO),
  }))
  return [...changed, ...gone]
    .filter(({ amount }) => !isZero(amount))
    .map(({ amount, ...line }) => ({ period: period.id, line, droppedIn: null, amount }))
}

/**
 * Returns what a closed period leaves: what was approved of it, the carries of its lines as they are
 * now, and the adjustments of it and of earlier closed periods that are still to be booked.
 */
export function keepClosed(
  books: PlanBooks,
  period: Period,
  lines: readonly Line[],
  open: OpenState,
  earlier: readonly Difference[],
): Settled {
  const { closing, transfer } = closedStatement(books, period)
  return {
    statement: null,
    lines,
    transfer,
    state: closeState(open, closing),
    differences: [...earlier, ...differencesOf(books, period, lines)],
  }
}

/** Returns the adjustments still to be booked, by affiliate and plan, of the closed periods so far. */
export function differencesUpTo(
  before: readonly PlanResult[] | null,
): (affiliate: string, plan: string) => readonly Difference[] {
  const found = new Map(
    before?.map(({ affiliate, plan, differences }) => [planKey(affiliate, plan.plan), differences]),
  )
  return (affiliate, plan) => found.get(planKey(affiliate, plan)) ?? []
}
