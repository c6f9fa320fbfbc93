import { JSON_EACH } from '../../records/sql-fragments.ts'
import { compileStatement } from '../../statement.ts'
import { ABORT, IS_FIRST_ATTEMPT } from './audit-guard.ts'
import { foldedSql } from './references.ts'

/** A payment that came back. */
export interface NewReturn {
  /** The reference of the payment, as it is stored. */
  readonly payment: string
  readonly reference: string
  readonly returned_on: string
  readonly reason: string
}

const ROWS = `
  with r as materialized (
    select key as position, value ->> 0 as payment, value ->> 1 as reference,
      value ->> 2 as returned_on, value ->> 3 as reason
    from json_each(:returns)
  )`

/** Aborts the batch if a payment came back already, or a reference is taken by something else. */
export const REJECT_RETURNED = compileStatement(`
  ${ROWS}
  select ${ABORT} from r where ${IS_FIRST_ATTEMPT} and (
    exists (select 1 from payment_returns n where n.account = :account and n.payment = r.payment)
    or exists (select 1 from payment_returns n where n.account = :account
      and ${foldedSql('n.reference')} = ${foldedSql('r.reference')})
    or exists (select 1 from payments p where p.account = :account
      and ${foldedSql('p.reference')} = ${foldedSql('r.reference')} and p.reference <> r.payment))`)

/** Inserts returns. */
export const INSERT_RETURNS = compileStatement(`
  ${ROWS}
  insert into payment_returns (account, payment, reference, returned_on, reason, actor, at)
  select :account, payment, reference, returned_on, reason, :actor, :at
  from r where ${IS_FIRST_ATTEMPT}`)

/** Books what came back in the ledger: an entry for each statement, after those of the batch's payments. */
export const BOOK_RETURNS = compileStatement(`
  ${ROWS}
  insert into ledger (account, affiliate_id, id, kind, plan, period, statement, currency, amount,
    reference, actor, at)
  select :account, s.affiliate_id,
    :audit || '-' || printf('%05d', :paid + row_number() over (order by r.position, i.key)),
    'returned', s.plan, s.period, s.id, p.currency, s.payable, r.reference, :actor, :at
  from r cross join payments p on p.account = :account and p.reference = r.payment
  cross join json_each(p.statements) i
  cross join statements s on s.account = :account and s.id = i.value
  where ${IS_FIRST_ATTEMPT}`)

/** Marks the statements of a payment that came back as approved. */
export const RETURN = compileStatement(`
  update statements set status = 'approved', payment = null, returned = v.payment
  from (
    select p.reference as payment, i.value as id
    from ${JSON_EACH}(:returns) r
    cross join payments p on p.account = :account and p.reference = r.value ->> 0
    cross join json_each(p.statements) i
  ) v
  where statements.account = :account and statements.id = v.id and statements.status = 'paid'
    and statements.payment = v.payment`)

/** The statements that book returns, in their order. */
export const RETURN_STATEMENTS = [REJECT_RETURNED, INSERT_RETURNS, BOOK_RETURNS, RETURN]

/** Returns the values of these statements, in a batch that pays so many statements before. */
export const rowsOfReturns = (returned: readonly NewReturn[], paid: number) => ({
  returns: JSON.stringify(
    returned.map(({ payment, reference, returned_on, reason }) => [
      payment,
      reference,
      returned_on,
      reason,
    ]),
  ),
  paid,
})
