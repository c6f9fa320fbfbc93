import { type Plan, versionOn } from './book.ts'
import type { Period } from './calendar.ts'
import {
  add,
  compare,
  type Decimal,
  decimal,
  fixedText,
  isNegative,
  isZero,
  plainText,
  sum,
  ZERO,
} from './decimal.ts'
import { type Line, type LineJson, lineJson } from './line.ts'
import type { StatementHold } from './settle.ts'
import { closeState, type OpenState, type PlanState } from './state.ts'

/** What a statement adds up to (§13). */
export interface StatementJson {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
  readonly opening: string
  readonly lines: readonly LineJson[]
  readonly total: string
  readonly payable: string
  readonly closing: string
  readonly dropped: string
  readonly holds: readonly (Omit<StatementHold, 'sum'> & { readonly sum: string })[]
}

/** A statement, and what it leaves to the next period. */
export interface Settled {
  readonly statement: StatementJson | null
  readonly lines: readonly Line[]
  readonly state: PlanState
}

/**
 * Adds up the lines of an affiliate, plan and period. Returns no statement if there is no line, no
 * hold and no opening.
 */
export function closeStatement(
  affiliate: string,
  plan: Plan,
  period: Period,
  lines: readonly Line[],
  holds: readonly StatementHold[],
  open: OpenState,
  opening: Decimal,
): Settled {
  const version = versionOn(plan, period.last)
  const { digits, currency } = plan.first
  const total = sum(lines.map(({ amount }) => amount))
  const outcome = close(add(opening, total), version)
  const state = closeState(open, outcome.closing)
  if (lines.length === 0 && holds.length === 0 && isZero(opening)) {
    return { statement: null, lines, state }
  }
  const money = (value: Decimal): string => fixedText(value, digits)
  const statement: StatementJson = {
    affiliate_id: affiliate,
    plan: plan.plan,
    period: period.id,
    currency,
    opening: money(opening),
    lines: lines.map((line) => lineJson(line, digits)),
    total: money(total),
    payable: money(outcome.payable),
    closing: money(outcome.closing),
    dropped: money(outcome.dropped),
    holds: holds.map((hold) => ({ ...hold, sum: plainText(hold.sum) })),
  }
  return { statement, lines, state }
}

/** Decides whether a balance is paid, carried or dropped. */
function close(
  balance: Decimal,
  {
    negative,
    minimumPayout,
  }: { readonly negative: 'carry' | 'zero'; readonly minimumPayout: Decimal },
): { payable: Decimal; closing: Decimal; dropped: Decimal } {
  const outcome = { payable: ZERO, closing: ZERO, dropped: ZERO }
  if (isNegative(balance)) {
    return negative === 'carry'
      ? { ...outcome, closing: balance }
      : { ...outcome, dropped: balance }
  }
  if (compare(balance, minimumPayout) < 0) return { ...outcome, closing: balance }
  return { ...outcome, payable: balance }
}

/** Returns the amount with which a period starts. */
export const openingOf = ({ closing }: PlanState): Decimal => decimal(closing)
