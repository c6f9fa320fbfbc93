import { all } from '../../platform/db/query.ts'
import {
  bindStatement,
  compileStatement,
  readBatch,
  required,
} from '../../platform/db/statement.ts'

/** The latest customers whose affiliates are looked at for what needs attention. */
const CUSTOMERS = 100

/** The latest transactions and events whose statuses are looked at. */
const RECORDS = 250

/** The names of events with a status, and the member of each that has it. */
export type StatusMembers = readonly (readonly [eventname: string, member: string])[]

/** What an account stores that may need attention. */
export interface Findings {
  /** The number of held records. */
  held: number
  /** The statuses of recent transactions and events. */
  statuses: string[]
  /** The affiliates of the latest customers that are not configured. */
  affiliates: string[]
}

/** A row of one column. */
interface Value<T> {
  value: T
}

const SELECT_HELD = compileStatement(`
  select coalesce(sum(held), 0) as value from totals where account = :account`)

const SELECT_STATUSES = compileStatement(`
  select distinct status as value from (
    select status from transactions not indexed where account = :account
    order by day desc, customer_id desc, transaction_id desc limit ${RECORDS})
  union
  select m.value from json_each(:members) s
    cross join (
      select eventname, record from events not indexed where account = :account
      order by day desc, customer_id desc, id desc limit ${RECORDS}
    ) e on e.eventname = s.value ->> 0
    cross join json_each(e.record) m on m.key = s.value ->> 1
  order by value`)

/** The customers that are read for the affiliates who are not configured, the latest ones. */
export const UNCONFIGURED_CUSTOMERS = 5000

/** An affiliate id that customers name, and the number of these customers. */
interface UnconfiguredAffiliate {
  affiliate_id: string
  customers: number
}

/**
 * The FROM clause of the affiliates that the latest customers name and the account has not configured.
 * `limit` is the number of these customers.
 */
const fromUnconfigured = (limit: number) => `
  from (
    select affiliate_id from customers indexed by customers_day
    where account = :account order by day desc limit ${limit}) latest
  where affiliate_id is not null
  group by affiliate_id
  having not exists (
    select 1 from affiliates a where a.account = :account and a.affiliate_id = latest.affiliate_id)`

const LIST_UNCONFIGURED = compileStatement(`
  select affiliate_id, count(*) as customers ${fromUnconfigured(UNCONFIGURED_CUSTOMERS)}
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
  select affiliate_id as value ${fromUnconfigured(CUSTOMERS)}
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
  const values = { account, members: JSON.stringify(members) }
  type Lists = [Value<number>[], Value<string>[], Value<string>[]]
  const [held, statuses, affiliates] = await readBatch<Lists>(session, [
    bindStatement(session, SELECT_HELD, values),
    bindStatement(session, SELECT_STATUSES, values),
    bindStatement(session, SELECT_AFFILIATES, values),
  ])
  return {
    held: required(held[0], 'sum').value,
    statuses: statuses.map(({ value }) => value),
    affiliates: affiliates.map(({ value }) => value),
  }
}
