import { HOUR_MS } from '../../durations.ts'
import { hasDeposit } from '../reports/read-report.ts'
import {
  bindStatement,
  compileStatement,
  readBatch,
  required,
  type Statement,
} from '../statement.ts'
import { ulidPrefix } from '../ulid.ts'

/** The limits of what is read of what changed in an account. */
export const CHANGE_LIMITS = {
  /** The signups of a day that are counted. */
  signups: 10_000,
  /** The statements, cases and entries of the audit log that are read, the latest. */
  rows: 1000,
  /** The payments that are read, the latest by the day on which they were made. */
  payments: 10_000,
  /** The transactions of three days among which first deposits are searched. */
  transactions: 10_000,
  /** The days before them that are searched for earlier deposits, of all customers together. */
  searchedDays: 10_000,
}

/** A start of a day: its number since 1970, and its instant in milliseconds. */
export interface DayStart {
  readonly day: number
  readonly at: number
}

/** The last three days of an account, the current one included. */
export interface LastDays {
  readonly dayBefore: DayStart
  readonly yesterday: DayStart
  readonly today: DayStart
}

/** Numbers of the last three days. Those of yesterday and the day before are of whole days. */
export interface Compared {
  readonly day_before: number
  readonly yesterday: number
  readonly today: number
}

/** An amount with what it is for: the period of a statement, or the day of a payment. */
interface AmountRow {
  readonly currency: string
  readonly amount: string
  readonly of: string
}

/** What has changed since the start of yesterday. */
export interface Changes {
  readonly signups: Compared
  /** The first approved deposits of customers; null if too many records would have to be read. */
  readonly firstDeposits: Compared | null
  readonly records: Compared
  readonly refused: Compared
  /** The statements that were approved: the total and period of each. */
  readonly approved: readonly AmountRow[]
  /** The payments that were recorded, each with the day on which it was paid. */
  readonly payments: readonly AmountRow[]
  readonly returned: number
  /** The affiliates of the cases that were opened, and whether each case holds payouts. */
  readonly cases: readonly { readonly affiliate_id: string; readonly holds: number }[]
  readonly endedHolds: number
}

const signupsOf = (day: string): string => `(select count(*) from (
    select 1 from customers indexed by customers_day
    where account = :account and day = :${day} limit ${CHANGE_LIMITS.signups})) as ${day}`

const COUNT_SIGNUPS = compileStatement(
  `select ${['day_before', 'yesterday', 'today'].map(signupsOf).join()}`,
)

const COUNT_FIRST_DEPOSITS = compileStatement(`
  with scanned as materialized (
    select customer_id, day, transaction_type, status, held from transactions not indexed
    where account = :account and day between :day_before and :today
    limit ${CHANGE_LIMITS.transactions + 1}
  ),
  deposits as materialized (
    select t.customer_id, min(t.day) as day, c.day as signup,
      max(c.day, (select min(day) from transactions where account = :account)) as since
    from scanned t cross join customers c on c.account = :account and c.customer_id = t.customer_id
    where t.transaction_type = 'deposit' and t.held = 0 and t.day >= c.day
      and t.status in (select value from json_each(:approved))
    group by t.customer_id
  ),
  span as materialized (
    select (select count(*) from scanned) > ${CHANGE_LIMITS.transactions}
      or total(max(:day_before - since, 0)) > ${CHANGE_LIMITS.searchedDays} as is_limited
    from deposits
  )
  select (select is_limited from span) as is_limited,
    count(*) filter (where day = :day_before) as day_before,
    count(*) filter (where day = :yesterday) as yesterday,
    count(*) filter (where day = :today) as today
  from deposits t
  where iif((select is_limited from span), 0, not ${hasDeposit('t.since', ':day_before')})`)

/** Sums a column of the hours of each day. An hour counts for the day on which it begins. */
const byDay = (column: string, name: string): string =>
  [
    `ifnull(sum(iif(hour < :yesterday_hour, ${column}, 0)), 0) as ${name}_before`,
    `ifnull(sum(iif(hour >= :yesterday_hour and hour < :today_hour, ${column}, 0)), 0) as ${name}_yesterday`,
    `ifnull(sum(iif(hour >= :today_hour, ${column}, 0)), 0) as ${name}_today`,
  ].join()

const COUNT_RECORDS = compileStatement(`
  select ${byDay('received', 'received')}, ${byDay('refused', 'refused')}
  from arrivals where account = :account and hour >= :first_hour and resource not in ('dry-run', 'clicks')`)

/** An approval is named by its entry of the audit log, which begins with the time. */
const READ_APPROVED = compileStatement(`
  select statement ->> 'currency' as currency, statement ->> 'total' as amount, period as "of"
  from statements indexed by statements_approval
  where account = :account and approval >= :start and statement is not null
  order by approval desc limit ${CHANGE_LIMITS.rows}`)

/** A payment may be recorded long after it was made, and no index has the time at which it was recorded. */
const READ_PAYMENTS = compileStatement(`
  select currency, amount, paid_on as "of" from (
    select currency, amount, paid_on, at from payments indexed by payments_by_day
    where account = :account order by paid_on desc limit ${CHANGE_LIMITS.payments}
  ) where at >= :since`)

const READ_LOGGED = compileStatement(`
  with l as materialized (
    select action, details from audit_log indexed by audit_log_account
    where account = :account and id >= :start order by id desc limit ${CHANGE_LIMITS.rows}
  )
  select ifnull(sum(iif(action = 'statement.return', 1, details ->> 'returned')), 0) as returned from l
  where action in ('statement.return', 'payouts.book')`)

const READ_CASES = compileStatement(`
  select affiliate_id, holds from (
    select affiliate_id, opened_at, action = 'hold' and status = 'open' or keep_hold = 1 as holds
    from fraud_cases where account = :account
    order by opened_for desc, id desc limit ${CHANGE_LIMITS.rows}
  ) where opened_at >= :since_ms`)

const COUNT_ENDED = compileStatement(`
  select count(*) as ended from fraud_ended_holds where account = :account and ended_at >= :since_ms`)

type RecordCounts = Record<`${'received' | 'refused'}_${'before' | 'yesterday' | 'today'}`, number>

const comparedOf = (row: RecordCounts, name: 'received' | 'refused'): Compared => ({
  day_before: row[`${name}_before`],
  yesterday: row[`${name}_yesterday`],
  today: row[`${name}_today`],
})

/**
 * Reads what has changed in an account since the start of yesterday, in one round trip. `approvedWords` are the
 * statuses that mean approved.
 */
export async function readChanges(
  db: D1Database,
  account: string,
  approvedWords: readonly string[],
  { dayBefore, yesterday, today }: LastDays,
): Promise<Changes> {
  const hourOf = ({ at }: DayStart) => Math.floor(at / HOUR_MS)
  const values = {
    ...{ account, day_before: dayBefore.day, yesterday: yesterday.day, today: today.day },
    approved: JSON.stringify(approvedWords),
    first_hour: hourOf(dayBefore),
    yesterday_hour: hourOf(yesterday),
    today_hour: hourOf(today),
    start: ulidPrefix(yesterday.at),
    since: new Date(yesterday.at).toISOString(),
    since_ms: yesterday.at,
  }
  type Lists = [
    signups: Compared[],
    firstDeposits: (Compared & { is_limited: number })[],
    records: RecordCounts[],
    approved: AmountRow[],
    payments: AmountRow[],
    logged: { returned: number }[],
    cases: Changes['cases'][number][],
    ended: { ended: number }[],
  ]
  const bind = (statement: Statement) => bindStatement(db, statement, values)
  const [signups, firstDeposits, records, approved, payments, logged, cases, ended] =
    await readBatch<Lists>(db, [
      bind(COUNT_SIGNUPS),
      bind(COUNT_FIRST_DEPOSITS),
      bind(COUNT_RECORDS),
      bind(READ_APPROVED),
      bind(READ_PAYMENTS),
      bind(READ_LOGGED),
      bind(READ_CASES),
      bind(COUNT_ENDED),
    ])
  const counts = required(records[0], 'sum')
  const { is_limited, ...first } = required(firstDeposits[0], 'count')
  const { returned } = required(logged[0], 'sum')
  return {
    signups: required(signups[0], 'count'),
    firstDeposits: is_limited === 1 ? null : first,
    records: comparedOf(counts, 'received'),
    refused: comparedOf(counts, 'refused'),
    ...{ approved, payments, returned, cases },
    endedHolds: required(ended[0], 'count').ended,
  }
}
