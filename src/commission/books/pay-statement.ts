import { type BookedStatement, findBooked } from '../../db/commission/books/booked.ts'
import { bookPayments } from '../../db/commission/books/pay.ts'
import { findPayments, type Payment } from '../../db/commission/books/payouts.ts'
import { foldReference } from '../../db/commission/books/references.ts'
import { ApiError, type ErrorCode, unavailable } from '../../errors.ts'
import { quote } from '../../validation/quote.ts'
import { noStatement } from './approve-statement.ts'
import { BOOK_LIMITS } from './limits.ts'

/** Who has paid which statement, and how. */
export interface StatementPayment {
  readonly id: string
  readonly reference: string
  readonly paid_on: string
  readonly actor: string
  /** In milliseconds. */
  readonly now: number
}

/**
 * Books that a statement was paid. One that was paid with the same reference on the same day is
 * returned as it is.
 *
 * @throws ApiError `not_found`, `not_approved`, `already_paid`, `nothing_due`, `reference_used`
 */
export async function payStatement(
  db: D1Database,
  account: string,
  { id, reference, paid_on, actor, now }: StatementPayment,
): Promise<BookedStatement> {
  for (let attempt = 1; attempt <= BOOK_LIMITS.attempts; attempt++) {
    const statement = await findBooked(db, account, id)
    if (!statement) throw noStatement()
    const [used] = await findPayments(db, account, [reference])
    if (used && statement.payment === used.reference && isOf(used, reference)) {
      if (used.paid_on === paid_on) return statement
      throw otherDay(used)
    }
    checkPayable(statement, reference, used)
    const { affiliate_id, payable: amount, currency } = payableOf(statement)
    const row = { reference, affiliate_id, currency, amount, paid_on, ids: [id] }
    const details = { statement: id, reference, paid_on, amount, currency }
    const payer = { account, actor, action: 'statement.pay', details, now }
    if (await bookPayments(db, payer, { made: [row], returned: [] }))
      return (await findBooked(db, account, id)) ?? statement
  }
  throw unavailable(new Error('Others changed the books in each attempt.'), 1)
}

/** Returns the error of a payment that is booked with another day. */
const otherDay = (booked: Payment) =>
  new ApiError('reference_used', {
    detail: `The payment ${quote(booked.reference)} is already booked, on ${booked.paid_on}. ${keepDay(booked)}`,
  })

/** Says what to do about a payment that is booked with another day. */
export const keepDay = ({ paid_on }: Payment): string =>
  `The day cannot be changed. Send \`paid_on\` as ${paid_on}, or leave the payment out.`

const payableOf = ({ affiliate_id, payable, statement }: BookedStatement) => {
  const { currency }: { currency: string } = JSON.parse(statement)
  return { affiliate_id, payable, currency }
}

/** Throws the code of what forbids the payment of a statement. */
function checkPayable(
  { status, payment, paid_on, payable }: BookedStatement,
  reference: string,
  used: Payment | undefined,
): void {
  const refuse = (code: ErrorCode, detail: string) => {
    throw new ApiError(code, { detail })
  }
  if (used) {
    const detail = `The reference ${quote(reference)} was used for ${describeUse(used, reference)}. Give every payment a reference of its own.`
    refuse('reference_used', detail)
  }
  if (status === 'paid') {
    refuse('already_paid', `It was paid on ${paid_on} with the reference ${quote(payment)}.`)
  }
  if (status === 'draft') refuse('not_approved', 'Approve the statement before it is paid.')
  if (!/[1-9]/.test(payable)) refuse('nothing_due', 'The `payable` of the statement is 0.')
}

/** Whether a reference is that of a payment itself, and not that of its return. */
export const isOf = (payment: Payment, reference: string): boolean =>
  foldReference(payment.reference) === foldReference(reference)

/** Says for what a reference was used: a payment, or its return. */
export function describeUse(payment: Payment, reference: string): string {
  const { affiliate_id, currency, amount, paid_on, returned_on } = payment
  const made = `the payment of ${amount} ${currency} to affiliate ${quote(affiliate_id)} on ${paid_on}`
  if (isOf(payment, reference)) {
    return returned_on === null ? made : `${made}, which came back on ${returned_on}`
  }
  return `the return of the payment ${quote(payment.reference)} on ${returned_on}`
}
