import type { PlanResult } from './account-input.ts'
import { planKey } from './book.ts'
import {
  type BookedLine,
  closedStatement,
  type Difference,
  keyedLines,
  lineKey,
  type PlanBooks,
} from './books.ts'
import type { Period } from './calendar.ts'
import { compare, type Decimal, isZero, negate, subtract, sum, ZERO } from './decimal.ts'
import { compareText } from './facts.ts'
import type { Line } from './line.ts'
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
  const differences = [...changed, ...gone]
    .filter(({ amount }) => !isZero(amount))
    .map(({ amount, ...line }): Difference => ({ period: period.id, line, amount }))
  const restoring = restoringOf(books, period, sum(now.map(({ amount }) => amount)))
  return isZero(restoring)
    ? differences
    : [...differences, { period: period.id, line: null, amount: restoring }]
}

/**
 * Returns the entry by which the corrections of a period first restore what it dropped. All corrections
 * of the period so far count, so that a correction of a correction nets out.
 */
function restoringOf(books: PlanBooks, period: Period, linesNow: Decimal): Decimal {
  const { dropped, linesSum } = closedStatement(books, period)
  const corrected = subtract(linesNow, linesSum)
  const gained = compare(corrected, ZERO) > 0 ? corrected : ZERO
  const lost = negate(dropped)
  const restored = compare(gained, lost) < 0 ? gained : lost
  return subtract(books.restored.get(period.id) ?? ZERO, restored)
}

/**
 * Returns what a closed period leaves: what was approved of it, the carries of its lines as they are
 * now, and all that its lines and those of earlier closed periods lack.
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
    ...{ statement: null, lines, transfer },
    state: closeState(open, closing),
    differences: [...earlier, ...differencesOf(books, period, lines)],
  }
}

/** Returns what the closed periods up to the one before lack of each affiliate and plan. */
export function differencesUpTo(
  before: readonly PlanResult[] | null,
): (affiliate: string, plan: string) => readonly Difference[] {
  const found = new Map(
    before?.map(({ affiliate, plan, differences }) => [planKey(affiliate, plan.plan), differences]),
  )
  return (affiliate, plan) => found.get(planKey(affiliate, plan)) ?? []
}
