import type { Connection } from '../database.ts'
import { all } from '../query.ts'
import { compileStatement } from '../statement.ts'

// What fraud rules read of an account beside the records of its customers.

/** Reads the codes by which customers came. */
const READ_CODES = compileStatement(`
  select c.customer_id, c.tracking_data as code
  from json_each(:ids) i
  cross join customers c on c.account = :account and c.customer_id = i.value
  where c.verdict = 'attributed' and c.tracking_data is not null`)

/**
 * Returns the codes of the links by which customers came, by stored id, where the service has verified
 * them.
 *
 * @param ids As stored.
 */
export async function readCodes(
  db: Connection,
  account: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const values = { account, ids: JSON.stringify(ids) }
  const found = await all<{ customer_id: string; code: string }>(db, READ_CODES, values)
  return new Map(found.map(({ customer_id, code }) => [customer_id, code]))
}

/** What an affiliate has earned, or is paid, by a statement. Money is decimal text. */
export interface StatementSums {
  readonly affiliate_id: string
  readonly id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
  readonly total: string
  readonly payable: string
  /** The first day on which it can be paid; null unless it is approved. */
  readonly payable_on: string | null
  /** The day of its payment; null until it is paid. */
  readonly paid_on: string | null
}

const READ_STATEMENTS = compileStatement(`
  select s.affiliate_id, s.id, s.plan, s.period, s.statement ->> 'currency' as currency,
    s.statement ->> 'total' as total, s.payable,
    iif(s.status = 'draft', null, s.statement ->> 'payable_on') as payable_on, p.paid_on
  from json_each(:affiliates) a
  cross join statements s on s.account = :account and s.affiliate_id = a.value
    and s.period between :first and :last
  left join payments p on p.account = s.account and p.reference = s.payment
  where s.statement is not null
  order by s.affiliate_id, s.period, s.plan`)

/** Returns the statements of affiliates of the periods of some years, in order of affiliate and period. */
export const readStatementSums = (
  db: Connection,
  account: string,
  affiliates: readonly string[],
  years: { readonly first: number; readonly last: number },
): Promise<StatementSums[]> =>
  all<StatementSums>(db, READ_STATEMENTS, {
    account,
    affiliates: JSON.stringify(affiliates),
    first: `${years.first}-`,
    last: `${years.last}~`,
  })

/** What the statements of a period say, as a JSON array of ids, currencies and totals. */
export interface PeriodSums {
  readonly period: string
  readonly statements: string
}

const READ_PERIOD_SUMS = compileStatement(`
  select period, json_group_array(json_array(id, statement ->> 'currency', statement ->> 'total')
    order by id) as statements
  from statements where account = :account and statement is not null group by period`)

/** Returns what all statements of an account say, by period. */
export const readPeriodSums = (db: Connection, account: string): Promise<PeriodSums[]> =>
  all<PeriodSums>(db, READ_PERIOD_SUMS, { account })

const READ_CONTACTS = compileStatement(`
  select affiliate_id, contact_email from affiliates
  where account = :account and contact_email is not null order by affiliate_id`)

/** Returns the e-mail addresses of affiliates. */
export const readContacts = (
  db: Connection,
  account: string,
): Promise<{ affiliate_id: string; contact_email: string }[]> => all(db, READ_CONTACTS, { account })
