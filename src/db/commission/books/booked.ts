import type { Connection } from '../../database.ts'
import { withD1Retry } from '../../retry.ts'
import { bindStatement, compileStatement } from '../../statement.ts'

/** A statement with its approval and payment. */
export interface BookedStatement {
  readonly id: string
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly status: 'draft' | 'approved' | 'paid'
  readonly hash: string
  readonly computed_at: string
  readonly payable: string
  /** In milliseconds; null for drafts. */
  readonly approved_at: number | null
  /** The reference of its payment, and its day; null until it is paid. */
  readonly payment: string | null
  readonly paid_on: string | null
  /** How its last payment that came back did so, as JSON; null if none did. */
  readonly payment_return: string | null
  /** The statement as JSON, without its lines. */
  readonly statement: string
}

/** The SQL of how the last payment of a statement `s` that came back did so, as JSON. */
export const PAYMENT_RETURN = `(
    select json_object('payment', n.payment, 'reference', n.reference,
      'returned_on', n.returned_on, 'reason', n.reason)
    from payment_returns n where n.account = s.account and n.payment = s.returned)`

/** Reads a statement with its approval and payment. */
export const FIND_BOOKED = compileStatement(`
  select s.id, s.affiliate_id, s.plan, s.period, s.status, s.hash, s.computed_at, s.payable,
    s.approved_at, s.payment, p.paid_on, ${PAYMENT_RETURN} as payment_return, s.statement
  from statements s left join payments p on p.account = :account and p.reference = s.payment
  where s.account = :account and s.id = :id and s.statement is not null`)

/** Returns a statement of an account with its approval and payment; null if there is none. */
export const findBooked = (
  db: Connection,
  account: string,
  id: string,
): Promise<BookedStatement | null> =>
  withD1Retry(() => bindStatement(db, FIND_BOOKED, { account, id }).first<BookedStatement>())
