import type { NewPayment, PaymentChanges } from '../../db/commission/books/pay.ts'
import type { DueStatement, Payment } from '../../db/commission/books/payouts.ts'
import { foldReference } from '../../db/commission/books/references.ts'
import type { NewReturn } from '../../db/commission/books/return.ts'
import type { Issue } from '../../validation/issue.ts'
import { quote } from '../../validation/quote.ts'
import { parsePeriod } from '../engine/calendar.ts'
import { add, compare, type Decimal, decimal, ZERO } from '../engine/decimal.ts'
import { compareText } from '../engine/facts.ts'
import { counted } from '../engine/sentences.ts'
import { moneyText } from './money.ts'
import { describeUse, isOf, keepDay } from './pay-statement.ts'

/** A payment that a request lists, and its position. */
export interface ListedPayment extends Omit<NewPayment, 'ids'> {
  readonly pointer: string
  /** When the payment came back, and why; both are absent if it did not. */
  readonly returned_on?: string | undefined
  readonly reason?: string | undefined
}

/** What becomes of the payments of a request. */
export interface MatchedPayments extends PaymentChanges {
  /** The number of payments and returns that are booked already. */
  readonly unchanged: number
  /** The number of statements that are paid now, or due again. */
  readonly statements: number
  /** Why others cannot be booked. */
  readonly refused: readonly Issue[]
}

const payeeKey = ({ affiliate_id, currency }: Pick<NewPayment, 'affiliate_id' | 'currency'>) =>
  JSON.stringify([affiliate_id, currency])

/**
 * Finds the statements that each payment pays: the oldest of its affiliate and currency. Payments of a
 * request come one after the other.
 */
export function matchPayments(
  listed: readonly ListedPayment[],
  due: readonly DueStatement[],
  booked: readonly Payment[],
): MatchedPayments {
  const open = new Map([...Map.groupBy(due, payeeKey)].map(([key, all]) => [key, all.sort(byAge)]))
  const made: NewPayment[] = []
  const returned: NewReturn[] = []
  const refused: Issue[] = []
  let unchanged = 0
  let statements = 0
  const find = bookedByReference(booked)
  for (const { pointer, returned_on, reason, ...one } of listed) {
    const known = find(one.reference)
    const back = returned_on !== undefined && reason !== undefined && { returned_on, reason }
    if (known && isSame(known, one)) {
      if (!back || isReturned(known, back)) unchanged += 1
      else if (known.returned_on !== null) refused.push(otherReturn(pointer, known))
      else {
        returned.push({ payment: known.reference, reference: known.reference, ...back })
        statements += JSON.parse(known.statements).length
      }
    } else if (known && isSame(known, { ...one, paid_on: known.paid_on })) {
      refused.push(otherDay(pointer, known))
    } else if (known) refused.push(reuse(pointer, known, one.reference))
    else if (back) refused.push(notBooked(pointer, one.reference))
    else {
      const left = open.get(payeeKey(one)) ?? []
      const count = countPaid(left, one.amount)
      if (count === null) refused.push(misfit(pointer, one, left))
      else {
        made.push({ ...one, ids: left.splice(0, count).map(({ id }) => id) })
        statements += count
      }
    }
  }
  return { made, returned, unchanged, statements, refused }
}

/** Returns a function that finds the payment with a reference, else the one whose return has it. */
function bookedByReference(booked: readonly Payment[]) {
  const own = new Map(booked.map((one) => [foldReference(one.reference), one]))
  const returns = new Map(booked.map((one) => [foldReference(one.return_reference ?? ''), one]))
  return (reference: string): Payment | undefined => {
    const folded = foldReference(reference)
    return own.get(folded) ?? returns.get(folded)
  }
}

const isReturned = (
  booked: Payment,
  { returned_on, reason }: Pick<NewReturn, 'returned_on' | 'reason'>,
): boolean => booked.returned_on === returned_on && booked.reason === reason

const lastDay = ({ period }: DueStatement) => parsePeriod(period)?.last ?? 0

const byAge = (a: DueStatement, b: DueStatement): number =>
  lastDay(a) - lastDay(b) || compareText(a.plan, b.plan) || compareText(a.period, b.period)

const isSame = (a: Payment, b: Omit<NewPayment, 'ids'>): boolean =>
  isOf(a, b.reference) &&
  a.affiliate_id === b.affiliate_id &&
  a.currency === b.currency &&
  a.amount === b.amount &&
  a.paid_on === b.paid_on

/** Returns the sums of the first one, two and more statements. */
function sumsOf(due: readonly DueStatement[]): Decimal[] {
  let sum = ZERO
  return due.map(({ payable }) => {
    sum = add(sum, decimal(payable))
    return sum
  })
}

/** Returns how many of the oldest statements an amount pays; null if it pays none exactly. */
function countPaid(due: readonly DueStatement[], amount: string): number | null {
  const index = sumsOf(due).findIndex((sum) => compare(sum, decimal(amount)) === 0)
  return index < 0 ? null : index + 1
}

const reuse = (pointer: string, known: Payment, reference: string): Issue => ({
  pointer: `${pointer}/reference`,
  code: 'reference_used',
  expected: describeUse(known, reference),
  value: reference,
})

const notBooked = (pointer: string, reference: string): Issue => ({
  pointer: `${pointer}/reference`,
  code: 'not_paid',
  value: reference,
  instruction: 'Book the payment first, without `returned_on` and `reason`.',
})

const otherReturn = (pointer: string, known: Payment): Issue => ({
  pointer: `${pointer}/returned_on`,
  code: 'reference_used',
  message: `The return of this payment is already booked, on ${known.returned_on}.`,
  instruction:
    'It cannot be changed. Send the same `returned_on` and `reason`, or leave the payment out.',
})

const otherDay = (pointer: string, known: Payment): Issue => ({
  pointer: `${pointer}/paid_on`,
  code: 'reference_used',
  message: `This payment is already booked, on ${known.paid_on}.`,
  instruction: keepDay(known),
})

function misfit(
  pointer: string,
  { affiliate_id, currency, amount }: Omit<NewPayment, 'ids'>,
  due: readonly DueStatement[],
): Issue {
  const sums = sumsOf(due)
  const total = sums.at(-1)
  if (!total) {
    return {
      pointer,
      code: 'nothing_due',
      expected: `affiliate ${quote(affiliate_id)} in ${currency}`,
    }
  }
  const less = sums.findLastIndex((sum) => compare(sum, decimal(amount)) < 0)
  const fitting = [less, less + 1].flatMap((i) => {
    const sum = sums[i]
    return sum ? [`${moneyText(sum, currency)} (${counted(i + 1, 'statement')})`] : []
  })
  return {
    pointer: `${pointer}/amount`,
    code: 'amount_differs',
    expected: `affiliate ${quote(affiliate_id)} gets ${moneyText(total, currency)} ${currency} for ${counted(due.length, 'statement')}`,
    value: amount,
    instruction: `Pay ${fitting.join(' or ')}.`,
  }
}
