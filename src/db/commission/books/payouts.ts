import type { Connection } from '../../database.ts'
import { type FoundPage, type Page, paginate } from '../../paginate.ts'
import { all } from '../../query.ts'
import { JSON_EACH } from '../../records/sql-fragments.ts'
import type { payments } from '../../schema.ts'
import { compileStatement } from '../../statement.ts'
import { IS_DUE, sumOf } from './ledger.ts'
import { foldedSql } from './references.ts'

/** What has to be paid to an affiliate in a currency. */
export interface DuePayout {
  readonly affiliate_id: string
  readonly currency: string
  /** The sum as `sumOf` returns it. */
  readonly units: string
  /** The ids of the statements, each with its payment that came back, as a JSON array. */
  readonly ids: string
  /** The latest day on which one of them is payable. */
  readonly payable_on: string
}

/**
 * Returns the query of what has to be paid, by affiliate and currency. The groups are in the order of
 * the index, so that a page reads only its own rows.
 */
export const dueQuery = (account: string, payable_on: string | null) => {
  const groups = (from: string) => `(
    select affiliate_id, statement ->> 'currency' as currency, ${sumOf('payable')} as units,
      json_group_array(concat_ws(' ', id, returned)) as ids, max(statement ->> 'payable_on') as payable_on
    from statements indexed by statements_due
    where account = :account and ${IS_DUE} ${from}
      ${payable_on === null ? '' : "and statement ->> 'payable_on' <= :payable_on"}
    group by affiliate_id, statement ->> 'currency')`
  return {
    columns: ['affiliate_id', 'currency', 'units', 'ids', 'payable_on'],
    from: `${groups('')} where true`,
    fromCursor: `${groups('and affiliate_id >= :after_0')}
      where (affiliate_id, currency) > (:after_0, :after_1)`,
    key: ['affiliate_id', 'currency'],
    values: { account, ...(payable_on !== null && { payable_on }) },
  }
}

/** Reads one page of what has to be paid; only what is payable by a day if it is not null. */
export const listDue = (
  db: Parameters<typeof paginate>[0],
  account: string,
  payable_on: string | null,
  page: Page,
): Promise<FoundPage<DuePayout>> => paginate(db, dueQuery(account, payable_on), page)

/** A payment, and how it came back; null if it did not. */
export type Payment = Omit<typeof payments.$inferSelect, 'account'> & {
  readonly return_reference: string | null
  readonly returned_on: string | null
  readonly reason: string | null
}

const PAYMENT_COLUMNS = [
  'reference',
  'affiliate_id',
  'currency',
  'amount',
  'paid_on',
  'statements',
  'actor',
  'at',
  'return_reference',
  'returned_on',
  'reason',
]

/** Payments `p` with their returns. */
const WITH_RETURN = `(
    select p.*, n.reference as return_reference, n.returned_on, n.reason from payments p
    left join payment_returns n on n.account = p.account and n.payment = p.reference)`

/** Reads one page of the payments of an account, by reference. */
export const listPayments = (
  db: Parameters<typeof paginate>[0],
  account: string,
  page: Page,
): Promise<FoundPage<Payment>> =>
  paginate(
    db,
    {
      columns: PAYMENT_COLUMNS,
      from: `${WITH_RETURN} where account = :account`,
      key: ['reference'],
      values: { account },
    },
    page,
  )

/** Reads payments by their references, and by those of their returns. */
export const FIND_PAYMENTS = compileStatement(`
  with named(reference) as (
    select p.reference from ${JSON_EACH}(:references) r
    cross join payments p on p.account = :account
      and ${foldedSql('p.reference')} = ${foldedSql('r.value')}
    union
    select n.payment from ${JSON_EACH}(:references) r
    cross join payment_returns n on n.account = :account
      and ${foldedSql('n.reference')} = ${foldedSql('r.value')}
  )
  select ${PAYMENT_COLUMNS.map((name) => `p.${name}`)}
  from named cross join ${WITH_RETURN} p
  where p.account = :account and p.reference = named.reference`)

/** Returns the payments of an account with these references, or whose returns have them. */
export async function findPayments(
  db: Connection,
  account: string,
  references: readonly string[],
): Promise<Payment[]> {
  const values = { account, references: JSON.stringify(references) }
  return all<Payment>(db, FIND_PAYMENTS, values)
}

/** A statement that has to be paid. */
export interface DueStatement {
  readonly id: string
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
  readonly payable: string
}

/** Reads the statements of some affiliates that have to be paid. */
export const READ_DUE = compileStatement(`
  select s.id, s.affiliate_id, s.plan, s.period, s.statement ->> 'currency' as currency, s.payable
  from ${JSON_EACH}(:affiliates) a
  cross join statements s indexed by statements_due on s.account = :account
    and s.affiliate_id = a.value and s.status = 'approved' and s.payable glob '*[1-9]*'
  limit :limit`)

/** Returns the statements of some affiliates that have to be paid; at most `limit` of them. */
export async function readDue(
  db: Connection,
  account: string,
  affiliates: readonly string[],
  limit: number,
): Promise<DueStatement[]> {
  const values = { account, affiliates: JSON.stringify(affiliates), limit }
  return all<DueStatement>(db, READ_DUE, values)
}
