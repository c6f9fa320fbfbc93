import type * as v from 'valibot'
import type { Fixed } from '../../platform/http/operation-words.ts'
import type { Period } from '../../platform/money/calendar.ts'
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
} from '../../platform/money/decimal.ts'
import type { LineJson } from '../shapes/line-json.ts'
import type { statement } from '../shapes/statements.ts'
import type { BookedLine, Difference, ManualEntry } from './books.ts'
import { type Line, lineJson, type StatementHold } from './line.ts'
import { type Plan, type Version, versionOn } from './plans-in-force.ts'
import { closeState, type OpenState, type PlanState } from './state.ts'
import type { PlanExit, ReceivedBalance, Transfer } from './transferred-balance.ts'

/** The members of a statement, without lines and adjustments. */
type Answer = Fixed<v.InferOutput<v.ObjectSchema<typeof statement, undefined>>>
type Sums = 'opening' | 'lines_sum' | 'adjustments_sum' | 'earned' | 'manual_sum' | 'total'
type Outcome = 'payable' | 'closing' | 'dropped' | 'transferred' | 'received'

/** What a statement adds up to (§13). */
export interface StatementJson
  extends Pick<
    Answer,
    'affiliate_id' | 'plan' | 'period' | 'currency' | 'manual' | 'holds' | Sums | Outcome
  > {
  readonly lines: readonly LineJson[]
  readonly adjustments: readonly AdjustmentJson[]
}

/** A correction of a line of a closed period, without its id and its causes (§13). */
export interface AdjustmentJson {
  readonly period: string
  /** Null: a part of a correction that restores what a statement dropped. */
  readonly line: Omit<BookedLine, 'amount'> | null
  /** The period of that statement; null unless `line` is null. */
  readonly droppedIn: string | null
  readonly amount: string
}

/** A statement, and what it leaves to the next period or to another plan. */
export interface Settled {
  /** Null if there is nothing to state, or if the period is closed. */
  readonly statement: StatementJson | null
  readonly lines: readonly Line[]
  /** The corrections of its statement. */
  readonly corrections: readonly Difference[]
  readonly state: PlanState
  readonly transfer: Transfer | null
  /** Corrections of closed periods that are still to be booked, if this one is closed, too. */
  readonly differences: readonly Difference[]
}

/** What a statement is made of: its lines, what waits, and what they leave to the next period. */
export interface OpenStatement {
  readonly affiliate: string
  readonly plan: Plan
  readonly period: Period
  readonly lines: readonly Line[]
  readonly holds: readonly StatementHold[]
  readonly open: OpenState
}

/** What a statement has besides lines: what it starts with, entries, and where its balance goes if the affiliate has left the plan. */
interface Entries {
  /** The closing of the period before. */
  readonly carried: Decimal
  readonly received: readonly ReceivedBalance[]
  readonly departure: PlanExit | null
  readonly adjustments: readonly Difference[]
  readonly manual: readonly ManualEntry[]
}

/**
 * Adds up the lines and entries of an affiliate, plan and period. Returns no statement if there are
 * none, no hold, no opening and nothing received.
 */
export function addUpStatement(
  { affiliate, plan, period, lines, holds, open }: OpenStatement,
  { carried, received, departure, adjustments, manual }: Entries,
): Settled {
  const { digits, currency } = plan.first
  const opening = add(carried, sum(received.map(({ amount }) => amount)))
  const sums = {
    lines: sum(lines.map(({ amount }) => amount)),
    adjustments: sum(adjustments.map(({ amount }) => amount)),
    manual: sum(manual.map(({ amount }) => decimal(amount))),
  }
  const total = sum(Object.values(sums))
  const outcome = close(add(opening, total), versionOn(plan, period.last), departure)
  const { transfer } = outcome
  const state = closeState(open, outcome.closing)
  const settled = { lines, corrections: adjustments, state, transfer, differences: [] }
  const isEmpty = [lines, holds, received, adjustments, manual].every(({ length }) => length === 0)
  if (isEmpty && isZero(opening)) return { statement: null, ...settled }
  const money = (value: Decimal): string => fixedText(value, digits)
  const statement: StatementJson = {
    affiliate_id: affiliate,
    plan: plan.plan,
    period: period.id,
    currency,
    opening: money(opening),
    lines: lines.map((line) => lineJson(line, digits)),
    lines_sum: money(sums.lines),
    adjustments: adjustments.map(({ now: _, ...one }) => ({ ...one, amount: money(one.amount) })),
    adjustments_sum: money(sums.adjustments),
    earned: money(add(sums.lines, sums.adjustments)),
    manual: manual.map((one) => ({ ...one, amount: money(decimal(one.amount)) })),
    manual_sum: money(sums.manual),
    total: money(total),
    payable: money(outcome.payable),
    closing: money(outcome.closing),
    dropped: money(outcome.dropped),
    transferred: transfer && { ...transfer, amount: money(transfer.amount) },
    received: received.map((one) => ({ ...one, amount: money(one.amount) })),
    holds: holds.map((hold) => ({ ...hold, sum: plainText(hold.sum) })),
  }
  return { statement, ...settled }
}

/** What becomes of a balance. The parts add up to it. */
interface Closed {
  readonly payable: Decimal
  readonly closing: Decimal
  readonly dropped: Decimal
  readonly transfer: Transfer | null
}

/**
 * Decides whether a balance is paid, carried, dropped or transferred. A balance that would be carried
 * in a plan that the affiliate has left moves to the new plan, or is paid if it cannot move (§16.6).
 */
function close(
  balance: Decimal,
  { source: { negative, minimum_payout } }: Version,
  departure: PlanExit | null,
): Closed {
  const none = { payable: ZERO, closing: ZERO, dropped: ZERO, transfer: null }
  const isNegativeBalance = isNegative(balance)
  if (isNegativeBalance && negative === 'zero') return { ...none, dropped: balance }
  if (!isNegativeBalance && compare(balance, decimal(minimum_payout)) >= 0)
    return { ...none, payable: balance }
  if (departure === null || isZero(balance)) return { ...none, closing: balance }
  const { target } = departure
  if (target !== null) return { ...none, transfer: { ...target, amount: balance } }
  return isNegativeBalance ? { ...none, closing: balance } : { ...none, payable: balance }
}

/** Returns the amount with which a period starts. */
export const openingOf = ({ closing }: PlanState): Decimal => decimal(closing)
