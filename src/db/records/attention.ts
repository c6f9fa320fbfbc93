import { DAY_HOURS } from '../../durations.ts'
import { readBatch, required } from '../batch.ts'
import { fromUnconfigured } from '../directory/affiliates.ts'
import { all } from '../query.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** The limits of what is searched for things that need attention. */
export const ATTENTION_LIMITS = {
  /** The latest customers, and the latest transactions, whose affiliates and statuses are read. */
  records: 500,
  /** The kept control totals whose statuses are read, in bytes of a day. */
  bytes: 65_536,
}

/** What an account stores that may need attention. */
export interface Findings {
  /** The number of held records. */
  held: number
  /** The bytes of the log of this day. */
  loggedBytes: number
  /** The statuses of recent transactions. */
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

const SELECT_LOGGED = compileStatement(`
  select coalesce(sum(logged_bytes), 0) as value from arrivals
  where account = :account and hour >= :first_hour and hour < :first_hour + ${DAY_HOURS}`)

const SELECT_STATUSES = compileStatement(`
  select status as value from (
    select status from transactions not indexed where account = :account
    order by day desc, customer_id desc, transaction_id desc limit :records)
  union
  select g.value ->> '$[0][1]' from day_totals k, json_each(k.totals) g
  where k.account = :account and k.resource = 'transactions' and k.day >= :since
    and k.totals is not null and octet_length(k.totals) <= :bytes
  order by value`)

const SELECT_AFFILIATES = compileStatement(`
  select affiliate_id as value ${fromUnconfigured(':records')}
  order by value`)

/**
 * Reads the statuses of the latest transactions of an account, and of its kept control totals since a day
 * (days since 1970).
 */
export async function readStatuses(
  db: D1Database,
  account: string,
  since: number,
): Promise<string[]> {
  const values = { account, since, ...ATTENTION_LIMITS }
  const results = await all<Value<string>>(db, SELECT_STATUSES, values)
  return results.map(({ value }) => value)
}

/**
 * Finds what may need attention in the records of an account. Statuses are those of the latest transactions
 * and of kept control totals since a day; affiliates are those of the latest customers.
 */
export async function readFindings(
  session: D1DatabaseSession,
  account: string,
  { firstHour, since }: { firstHour: number; since: number },
): Promise<Findings> {
  const values = { account, first_hour: firstHour, since, ...ATTENTION_LIMITS }
  const [held, logged, statuses, affiliates] = await readBatch<
    [Value<number>[], Value<number>[], Value<string>[], Value<string>[]]
  >(session, [
    bindStatement(session, SELECT_HELD, values),
    bindStatement(session, SELECT_LOGGED, values),
    bindStatement(session, SELECT_STATUSES, values),
    bindStatement(session, SELECT_AFFILIATES, values),
  ])
  return {
    held: required(held[0], 'sum').value,
    loggedBytes: required(logged[0], 'sum').value,
    statuses: statuses.map(({ value }) => value),
    affiliates: affiliates.map(({ value }) => value),
  }
}
