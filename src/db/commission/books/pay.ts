import { newAuditId, withAudit } from '../../directory/audit.ts'
import { JSON_EACH } from '../../records/sql-fragments.ts'
import { isAssertionFailure } from '../../retry.ts'
import { bindStatement, compileStatement } from '../../statement.ts'
import { ABORT, IS_FIRST_ATTEMPT } from './audit-guard.ts'
import { foldedSql } from './references.ts'
import { type NewReturn, RETURN_STATEMENTS, rowsOfReturns } from './return.ts'

/** A payment to make, and the ids of the statements that it pays. */
export interface NewPayment {
  readonly reference: string
  readonly affiliate_id: string
  readonly currency: string
  /** The sum of what the statements have to pay. */
  readonly amount: string
  readonly paid_on: string
  readonly ids: readonly string[]
}

const ROWS = `
  with r as materialized (
    select key as position, value ->> 0 as reference, value ->> 1 as affiliate_id,
      value ->> 2 as currency, value ->> 3 as amount, value ->> 4 as paid_on, value -> 5 as ids
    from json_each(:rows)
  )`

/** Aborts the batch if a reference is taken, or a statement must no longer be paid. */
export const REJECT_CHANGED = compileStatement(`
  ${ROWS}
  select ${ABORT} from r where ${IS_FIRST_ATTEMPT} and (
    exists (select 1 from payments p where p.account = :account
      and ${foldedSql('p.reference')} = ${foldedSql('r.reference')})
    or exists (select 1 from payment_returns n where n.account = :account
      and ${foldedSql('n.reference')} = ${foldedSql('r.reference')})
    or exists (
      select 1 from json_each(r.ids) i
      left join statements s on s.account = :account and s.id = i.value and s.status = 'approved'
        and s.affiliate_id = r.affiliate_id
      where s.id is null))`)

/** Inserts payments. */
export const INSERT_PAYMENTS = compileStatement(`
  ${ROWS}
  insert into payments (account, reference, affiliate_id, currency, amount, paid_on, statements,
    actor, at)
  select :account, reference, affiliate_id, currency, amount, paid_on, ids, :actor, :at
  from r where ${IS_FIRST_ATTEMPT}`)

/** Books what was paid in the ledger: an entry for each statement. */
export const BOOK_PAYMENTS = compileStatement(`
  ${ROWS}
  insert into ledger (account, affiliate_id, id, kind, plan, period, statement, currency, amount,
    reference, actor, at)
  select :account, s.affiliate_id,
    :audit || '-' || printf('%05d', row_number() over (order by r.position, i.key)), 'paid', s.plan,
    s.period, s.id, r.currency, '-' || s.payable, r.reference, :actor, :at
  from r cross join json_each(r.ids) i
  cross join statements s on s.account = :account and s.id = i.value
  where ${IS_FIRST_ATTEMPT}`)

/** Marks statements as paid. */
export const PAY = compileStatement(`
  update statements set status = 'paid', payment = v.reference
  from (
    select r.value ->> 0 as reference, i.value as id
    from ${JSON_EACH}(:rows) r cross join json_each(r.value -> 5) i
  ) v
  where statements.account = :account and statements.id = v.id and statements.status = 'approved'`)

const PAY_STATEMENTS = [REJECT_CHANGED, INSERT_PAYMENTS, BOOK_PAYMENTS, PAY]

/** Who pays, and how the audit log calls it. */
export interface Payer {
  readonly account: string
  readonly actor: string
  readonly action: string
  readonly details: Record<string, unknown>
  /** In milliseconds. */
  readonly now: number
}

/** What happened to payments. */
export interface PaymentChanges {
  readonly made: readonly NewPayment[]
  readonly returned: readonly NewReturn[]
}

/**
 * Books payments and returns of payments, all or none, in one atomic batch. Returns false if a reference
 * is taken, a statement must no longer be paid, or a payment came back already.
 */
export async function bookPayments(
  db: D1Database,
  { account, actor, action, details, now }: Payer,
  { made, returned }: PaymentChanges,
): Promise<boolean> {
  const audit = newAuditId()
  const list = made.map(({ reference, affiliate_id, currency, amount, paid_on, ids }) => [
    reference,
    affiliate_id,
    currency,
    amount,
    paid_on,
    ids,
  ])
  const at = new Date(now).toISOString()
  const shared = { account, actor, at, audit }
  const paid = { ...shared, rows: JSON.stringify(list) }
  const back = { ...shared, ...rowsOfReturns(returned, made.flatMap(({ ids }) => ids).length) }
  const statements = [
    ...(made.length > 0 ? PAY_STATEMENTS.map((one) => bindStatement(db, one, paid)) : []),
    ...(returned.length > 0 ? RETURN_STATEMENTS.map((one) => bindStatement(db, one, back)) : []),
  ]
  try {
    await withAudit(db, { actor, action, account, details }, statements, audit)
    return true
  } catch (error) {
    if (!isAssertionFailure(error)) throw error
    return false
  }
}
