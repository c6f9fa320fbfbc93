import { type BookedStatement, findBooked } from '../../db/commission/books/booked.ts'
import { bookPayments } from '../../db/commission/books/pay.ts'
import { findPayments, type Payment } from '../../db/commission/books/payouts.ts'
import { foldReference } from '../../db/commission/books/references.ts'
import { ApiError, unavailable } from '../../errors.ts'
import { formatIssue } from '../../validation/messages.ts'
import { quote } from '../../validation/quote.ts'
import { noStatement } from './approve-statement.ts'
import { BOOK_LIMITS } from './limits.ts'
import { beforePayment } from './parse-payments.ts'
import { describeUse } from './pay-statement.ts'

/** Who reports that the payment of which statement came back, and how. */
export interface StatementReturn {
  readonly id: string
  readonly reference: string
  readonly returned_on: string
  readonly reason: string
  readonly actor: string
  /** In milliseconds. */
  readonly now: number
}

/**
 * Books that the payment of a statement came back, with all statements that it paid. A return that is
 * booked already leaves everything as it is.
 *
 * @throws ApiError `not_found`, `not_paid`, `reference_used`, `validation_failed`
 */
export async function returnPayment(
  db: D1Database,
  account: string,
  { id, reference, returned_on, reason, actor, now }: StatementReturn,
): Promise<BookedStatement> {
  for (let attempt = 1; attempt <= BOOK_LIMITS.attempts; attempt++) {
    const statement = await findBooked(db, account, id)
    if (!statement) throw noStatement()
    const { payment } = statement
    const found = await findPayments(db, account, payment ? [reference, payment] : [reference])
    const booked = found.find((one) => isReturnOf(one, reference))
    if (booked) {
      const isSame = booked.returned_on === returned_on && booked.reason === reason
      if (isSame && idsOf(booked).includes(id)) return statement
      throw used(
        `The return ${quote(reference)} of the payment ${quote(booked.reference)} is already booked, on ${booked.returned_on}. It cannot be changed.`,
      )
    }
    const paid = found.find((one) => one.reference === payment)
    if (!paid) throw notPaid(statement)
    const other = found.find((one) => one !== paid)
    if (other) {
      throw used(
        `The reference ${quote(reference)} was used for ${describeUse(other, reference)}. Give every return a reference of its own, or that of its payment.`,
      )
    }
    if (returned_on < paid.paid_on) throw tooEarly(returned_on, paid.paid_on)
    const returned = [{ payment: paid.reference, reference, returned_on, reason }]
    const { amount, currency } = paid
    const details = {
      statements: idsOf(paid),
      payment: paid.reference,
      reference,
      returned_on,
      reason,
      amount,
      currency,
    }
    const payer = { account, actor, action: 'statement.return', details, now }
    if (await bookPayments(db, payer, { made: [], returned })) {
      return (await findBooked(db, account, id)) ?? statement
    }
  }
  throw unavailable(new Error('Others changed the books in each attempt.'), 1)
}

const isReturnOf = ({ return_reference }: Payment, reference: string): boolean =>
  return_reference !== null && foldReference(return_reference) === foldReference(reference)

const idsOf = ({ statements }: Payment): string[] => JSON.parse(statements)

const used = (detail: string) => new ApiError('reference_used', { detail })

const notPaid = ({ status }: BookedStatement) =>
  new ApiError('not_paid', {
    detail:
      status === 'draft'
        ? 'It is a draft: nothing was paid.'
        : 'It is approved and due: no payment of it is booked that has not come back.',
  })

const tooEarly = (day: string, paidOn: string) =>
  new ApiError('validation_failed', {
    detail: 'Nothing was changed.',
    errors: [formatIssue(beforePayment('/returned_on', day, paidOn))],
    errors_total: 1,
  })
