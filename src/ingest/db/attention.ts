import { all } from '../../platform/db/query.ts'
import {
  bindStatement,
  compileStatement,
  readBatch,
  required,
} from '../../platform/db/statement.ts'

/** The limits of what is searched for things that need attention. */
export const ATTENTION_LIMITS = {
  /** The latest customers, transactions and events whose affiliates and amounts are read. */
  records: 100,
  /** The latest transactions and events whose statuses are read. */
  statuses: 250,
}

/** The names of events with a status, and the member of each that has it. */
export type StatusMembers = readonly (readonly [eventname: string, member: string])[]

/** The latest amounts of transactions of a type, or of events of a name, by their signs. */
export interface Signs {
  readonly kind: string
  readonly negative: number
  readonly positive: number
}

/** What an account stores that may need attention. */
export interface Findings {
  /** The number of held records. */
  held: number
  /** The statuses of recent transactions and events. */
  statuses: string[]
  /** The affiliates of the latest customers that are not configured. */
  affiliates: string[]
  /** The signs of the latest amounts. */
  signs: Signs[]
}

/** A row of one column. */
interface Value<T> {
  value: T
}

const SELECT_HELD = compileStatement(`
  select coalesce(sum(held), 0) as value from totals where account = :account`)

const latestTransactions = (most: string) => `(select transaction_type, amount_currency, status
    from transactions not indexed where account = :account
    order by day desc, customer_id desc, transaction_id desc limit ${most})`

const latestEvents = (most: string) => `(select eventname, amount, record from events not indexed
    where account = :account order by day desc, customer_id desc, id desc limit ${most})`

const SELECT_STATUSES = compileStatement(`
  select distinct status as value from ${latestTransactions(':statuses')}
  union
  select m.value from json_each(:members) s
    cross join ${latestEvents(':statuses')} e on e.eventname = s.value ->> 0
    cross join json_each(e.record) m on m.key = s.value ->> 1
  order by value`)

const SELECT_SIGNS = compileStatement(`
  select transaction_type as kind, sum(amount_currency < 0) as negative, sum(amount_currency > 0) as positive
  from ${latestTransactions(':records')} group by 1
  union all
  select eventname, ifnull(sum(amount < 0), 0), ifnull(sum(amount > 0), 0)
  from ${latestEvents(':records')} group by 1`)

/** The customers that are read for the affiliates who are not configured, the latest ones. */
export const UNCONFIGURED_CUSTOMERS = 5000

/** An affiliate id that customers name, and the number of these customers. */
interface UnconfiguredAffiliate {
  affiliate_id: string
  customers: number
}

/**
 * The FROM clause of the affiliates that the latest customers name and the account has not configured.
 * `limit` is the parameter with the number of these customers.
 */
const fromUnconfigured = (limit: string) => `
  from (
    select affiliate_id from customers indexed by customers_day
    where account = :account order by day desc limit ${limit}) latest
  where affiliate_id is not null
  group by affiliate_id
  having not exists (
    select 1 from affiliates a where a.account = :account and a.affiliate_id = latest.affiliate_id)`

const LIST_UNCONFIGURED = compileStatement(`
  select affiliate_id, count(*) as customers ${fromUnconfigured(String(UNCONFIGURED_CUSTOMERS))}
  order by customers desc, affiliate_id limit 1000`)

/**
 * Returns the affiliate ids that the latest customers name but the account has not configured, each with its number
 * of these customers, the largest first: at most 1000 ids.
 */
export const listUnconfigured = (
  db: D1Database,
  account: string,
): Promise<UnconfiguredAffiliate[]> =>
  all<UnconfiguredAffiliate>(db, LIST_UNCONFIGURED, { account })

const SELECT_AFFILIATES = compileStatement(`
  select affiliate_id as value ${fromUnconfigured(':records')}
  order by value`)

/**
 * Finds what may need attention in the records of an account. Statuses are those of the latest transactions
 * and events; affiliates are those of the latest customers.
 */
export async function readFindings(
  session: D1DatabaseSession,
  account: string,
  members: StatusMembers,
): Promise<Findings> {
  const values = { account, members: JSON.stringify(members), ...ATTENTION_LIMITS }
  type Lists = [Value<number>[], Value<string>[], Value<string>[], Signs[]]
  const [held, statuses, affiliates, signs] = await readBatch<Lists>(session, [
    bindStatement(session, SELECT_HELD, values),
    bindStatement(session, SELECT_STATUSES, values),
    bindStatement(session, SELECT_AFFILIATES, values),
    bindStatement(session, SELECT_SIGNS, values),
  ])
  return {
    held: required(held[0], 'sum').value,
    statuses: statuses.map(({ value }) => value),
    affiliates: affiliates.map(({ value }) => value),
    signs,
  }
}
