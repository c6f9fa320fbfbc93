import type { Connection } from '../../platform/db/database.ts'
import { all, only } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import type { PayeeVersion } from '../kind.ts'

// What fraud rules read of an account beside the records of its customers.

const READ_CODES = compileStatement(`
  select c.customer_id, c.tracking_data as code
  from json_each(:ids) i
  cross join customers c on c.account = :account and c.customer_id = i.value
  where c.verdict = 'attributed' and c.tracking_data is not null`)

/** Returns the codes of the links by which customers came, where the service has verified them. */
export const readCodes = (
  db: Connection,
  account: string,
  ids: readonly string[],
): Promise<{ customer_id: string; code: string }[]> =>
  all(db, READ_CODES, { account, ids: JSON.stringify(ids) })

/** What an affiliate has earned by a statement, without manual entries, as decimal text. */
export interface StatementSums {
  readonly affiliate_id: string
  readonly id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
  readonly earned: string
}

const READ_STATEMENTS = compileStatement(`
  select s.affiliate_id, s.id, s.plan, s.period, s.statement ->> 'currency' as currency,
    s.statement ->> 'earned' as earned
  from json_each(:affiliates) a
  cross join statements s indexed by statements_affiliate on s.account = :account and s.affiliate_id = a.value
    and s.period between :first and :last
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

const COUNT_CUSTOMERS = compileStatement(`
  select ifnull(max(total), 0) as total from totals
  where account = :account and resource = 'customers'`)

/** Returns the number of customers of an account. */
export const countCustomers = async (db: Connection, account: string): Promise<number> =>
  (await only<{ total: number }>(db, COUNT_CUSTOMERS, { account })).total

const READ_SHARED_PAYEES = compileStatement(`
  with versions as materialized (
    select id, version, digest, state, entered_at,
      lead(entered_at) over (partition by id order by version) as ended_at
    from payees where account = :account and party = 'payee'
  )
  select id as affiliate_id, version, digest as account, entered_at, ended_at from versions
  where state in ('entered', 'approved') and digest in (
    select digest from versions group by digest having count(distinct id) > 1)
  order by id, version`)

/** Bank details, and when they and the next version were entered, in milliseconds. */
type SharedPayeeRow = Omit<PayeeVersion, 'first' | 'until'> & {
  readonly entered_at: number
  readonly ended_at: number | null
}

/** Returns the bank details with an account that several affiliates have, or had. */
export const readSharedPayees = (db: Connection, account: string): Promise<SharedPayeeRow[]> =>
  all<SharedPayeeRow>(db, READ_SHARED_PAYEES, { account })
