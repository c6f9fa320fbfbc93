import { type Plan, type Version, versionOn } from './book.ts'
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
import type { Arrival, Departure, Transfer } from './transfer.ts'

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
  /** The balance that moves to another plan, and the period that starts with it (§16.6). */
  readonly transferred: {
    readonly to: string
    readonly period: string
    readonly amount: string
  } | null
  /** What other plans transferred. It is a part of `opening`. */
  readonly received: readonly {
    readonly from: string
    readonly period: string
    readonly amount: string
  }[]
  readonly holds: readonly (Omit<StatementHold, 'sum'> & { readonly sum: string })[]
}

/** A statement, and what it leaves to the next period or to another plan. */
export interface Settled {
  readonly statement: StatementJson | null
  readonly lines: readonly Line[]
  readonly state: PlanState
  readonly transfer: Transfer | null
}

/** What a period starts with, and where its balance goes if the affiliate has left the plan. */
export interface Balance {
  /** The closing of the period before. */
  readonly carried: Decimal
  readonly received: readonly Arrival[]
  readonly departure: Departure | null
}

/**
 * Adds up the lines of an affiliate, plan and period. Returns no statement if there is no line, no
 * hold, no opening and nothing received.
 */
export function closeStatement(
  affiliate: string,
  plan: Plan,
  period: Period,
  lines: readonly Line[],
  holds: readonly StatementHold[],
  open: OpenState,
  { carried, received, departure }: Balance,
): Settled {
  const { digits, currency } = plan.first
  const opening = add(carried, sum(received.map(({ amount }) => amount)))
  const total = sum(lines.map(({ amount }) => amount))
  const outcome = close(add(opening, total), versionOn(plan, period.last), departure)
  const { transfer } = outcome
  const settled = { lines, state: closeState(open, outcome.closing), transfer }
  const isEmpty = lines.length === 0 && holds.length === 0 && received.length === 0
  if (isEmpty && isZero(opening)) return { statement: null, ...settled }
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
    transferred: transfer && { ...transfer, amount: money(transfer.amount) },
    received: received.map((one) => ({ ...one, amount: money(one.amount) })),
    holds: holds.map((hold) => ({ ...hold, sum: plainText(hold.sum) })),
  }
  return { statement, ...settled }
}

/** What becomes of a balance. The parts add up to it. */
interface Outcome {
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
  { negative, minimumPayout }: Pick<Version, 'negative' | 'minimumPayout'>,
  departure: Departure | null,
): Outcome {
  const none = { payable: ZERO, closing: ZERO, dropped: ZERO, transfer: null }
  const isOwed = isNegative(balance)
  if (isOwed && negative === 'zero') return { ...none, dropped: balance }
  if (!isOwed && compare(balance, minimumPayout) >= 0) return { ...none, payable: balance }
  if (departure === null || isZero(balance)) return { ...none, closing: balance }
  const { target } = departure
  if (target !== null) return { ...none, transfer: { ...target, amount: balance } }
  return isOwed ? { ...none, closing: balance } : { ...none, payable: balance }
}

/** Returns the amount with which a period starts. */
export const openingOf = ({ closing }: PlanState): Decimal => decimal(closing)
