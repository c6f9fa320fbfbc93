import { bookPayments } from '../../db/commission/books/pay.ts'
import { findPayments, readDue } from '../../db/commission/books/payouts.ts'
import { ApiError, unavailable } from '../../errors.ts'
import type { Issue } from '../../validation/issue.ts'
import { formatIssue } from '../../validation/messages.ts'
import { BOOK_LIMITS } from './limits.ts'
import { type ListedPayment, matchPayments } from './match-payments.ts'

/** What an import of payments did. */
export interface ImportedPayments {
  readonly received: number
  readonly paid: number
  /** The payments that came back. */
  readonly returned: number
  readonly unchanged: number
  /** The statements that are paid now, or due again. */
  readonly statements: number
}

/** The maximum number of errors that a response lists. */
const MAX_LISTED = 100

/**
 * Books payments and returns of payments, all or none. Those that are booked already are left as they are.
 *
 * @throws ApiError `amount_differs`, `nothing_due`, `not_paid` or `reference_used`: the code of the first error.
 */
export async function importPayments(
  db: D1Database,
  account: string,
  listed: readonly ListedPayment[],
  { actor, now }: { readonly actor: string; readonly now: number },
): Promise<ImportedPayments> {
  const references = listed.map(({ reference }) => reference)
  const affiliates = [...new Set(listed.map(({ affiliate_id }) => affiliate_id))]
  for (let attempt = 1; attempt <= BOOK_LIMITS.attempts; attempt++) {
    const [booked, due] = await Promise.all([
      findPayments(db, account, references),
      readDue(db, account, affiliates, BOOK_LIMITS.due + 1),
    ])
    if (due.length > BOOK_LIMITS.due) throw tooMany()
    const { made, returned, unchanged, refused, statements } = matchPayments(listed, due, booked)
    if (refused.length > 0) throw refusalOf(refused)
    const result = {
      received: listed.length,
      paid: made.length,
      returned: returned.length,
      unchanged,
      statements,
    }
    if (made.length === 0 && returned.length === 0) return result
    const payer = { account, actor, action: 'payouts.book', details: { ...result }, now }
    if (await bookPayments(db, payer, { made, returned })) return result
  }
  throw unavailable(new Error('Others changed the books in each attempt.'), 1)
}

const tooMany = () =>
  new ApiError('validation_failed', {
    detail: `The affiliates of these payments have more than ${BOOK_LIMITS.due.toLocaleString('en')} unpaid statements. Send the payments of fewer affiliates. Nothing was booked.`,
  })

/** Returns the error of payments that cannot be booked; its code is that of the first. */
function refusalOf(refused: readonly Issue[]): ApiError {
  const code = CODES.find((one) => one === refused[0]?.code) ?? 'conflict'
  return new ApiError(code, {
    detail: 'Nothing was booked.',
    errors: refused.slice(0, MAX_LISTED).map(formatIssue),
    errors_total: refused.length,
  })
}

const CODES = ['amount_differs', 'nothing_due', 'not_paid', 'reference_used'] as const
