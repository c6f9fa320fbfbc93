import { ABORT } from '../commission/books/audit-guard.ts'
import type { FACT_TABLES } from '../commission/fact-tables.ts'
import type { Connection } from '../database.ts'
import { all, first, only } from '../query.ts'
import { ATTRIBUTION } from '../records/changed.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import type { fraudProgress } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'

// How far the fraud rules of an account were evaluated. Marks tell which days change afterwards.

type Row = typeof fraudProgress.$inferSelect

/** How far the rules of an account were evaluated. Days are in days since 1970. */
export type Progress = Omit<Row, 'account'>

const READ = compileStatement(`
  select through, position, inputs, first, last, cursor, too_large from fraud_progress
  where account = :account`)

/** Returns how far the rules of an account were evaluated; null if they never were. */
export const readProgress = (db: D1Database, account: string): Promise<Progress | null> =>
  first<Progress>(db, READ, { account })

const CHANGED_FROM = compileStatement(`
  select min(day) as day from changed
  where account = :account and resource not in ('', '${ATTRIBUTION}') and seq > :position`)

/** Returns the first day that was marked behind a position, in days since 1970; Infinity if none was. */
export const readChangedFrom = async (
  db: D1Database,
  account: string,
  position: number,
): Promise<number> =>
  (await only<{ day: number | null }>(db, CHANGED_FROM, { account, position })).day ??
  Number.POSITIVE_INFINITY

const READ_CHANGED = compileStatement(
  'select customer_id from fraud_changed_customers where account = :account limit :most',
)

const FIRST_SIGNUP = compileStatement(`
  select min(min(c.day), min(ifnull(c.first_seen_day, c.day))) as day
  from json_each(:ids) i
  cross join customers c on c.account = :account and c.customer_id = i.value`)

const firstRecord = (table: string, column: string) =>
  compileStatement(`
    select t.${column} as day
    from json_each(:days) d cross join json_each(:ids) i
    cross join ${table} t
    on t.account = :account and t.${column} = d.value and t.customer_id = i.value
    limit 1`)

const FIRST_RECORDS = {
  transactions: firstRecord('transactions', 'day'),
  activity: firstRecord('activity', 'date'),
  events: firstRecord('events', 'day'),
} satisfies Record<keyof typeof FACT_TABLES, unknown>

/** The first archived month with a record of some customers: its first day is on or before that of the record. */
const FIRST_ARCHIVED = compileStatement(`
  select a.first_day from json_each(:ids) i cross join archived_customers a
    on a.account = :account and a.customer_id = i.value
  order by a.first_day limit 1`)

/** The changed customers whose first record is looked for. */
const MOST_CHANGED = 500

/**
 * Returns the customers whose records count anew from their first one on, as stored; null if they are too
 * many.
 */
export async function readChangedCustomers(
  db: D1Database,
  account: string,
): Promise<string[] | null> {
  const values = { account, most: MOST_CHANGED + 1 }
  const rows = await all<{ customer_id: string }>(db, READ_CHANGED, values)
  return rows.length > MOST_CHANGED ? null : rows.map(({ customer_id }) => customer_id)
}

/**
 * Returns the day of the first record of some customers, or of the first signup if that is earlier, in days
 * since 1970; Infinity if none of them is stored. Of an archived record it is the first day of its month.
 *
 * @param ids As stored.
 * @param days The days with records of each table, in order.
 */
export async function firstDayOfCustomers(
  db: Connection,
  account: string,
  ids: readonly string[],
  days: Readonly<Record<keyof typeof FACT_TABLES, readonly number[]>>,
): Promise<number> {
  const values = { account, ids: JSON.stringify(ids) }
  const signup = await first<{ day: number | null }>(db, FIRST_SIGNUP, values)
  let found = signup?.day ?? Number.POSITIVE_INFINITY
  for (const table of ['transactions', 'activity', 'events'] as const) {
    const earlier = days[table].filter((day) => day < found)
    if (earlier.length === 0) continue
    const record = await first<{ day: number }>(db, FIRST_RECORDS[table], {
      ...values,
      days: JSON.stringify(earlier),
    })
    found = Math.min(found, record?.day ?? found)
  }
  const archived = await all<{ first_day: number }>(db, FIRST_ARCHIVED, values)
  return Math.min(found, archived[0]?.first_day ?? found)
}

const BEGIN = compileStatement(`
  insert into fraud_progress (account, through, position, inputs, first, last)
  values (:account, :through, :position, :inputs, :first, :last)
  on conflict (account) do update set through = excluded.through, position = excluded.position,
    inputs = excluded.inputs, first = excluded.first, last = excluded.last, cursor = ''
  where (through, position, first, last, cursor)
    is (:was_through, :was_position, :was_first, :was_last, :was_cursor)`)

const IS_BEGUN = `exists (select 1 from fraud_progress
  where account = :account and (first, last, cursor, inputs) = (:first, :last, '', :inputs))`

const FORGET_CUSTOMERS = compileStatement(`
  delete from fraud_changed_customers where account = :account
    and (:ids is null or customer_id in (select value from ${JSON_EACH}(:ids))) and ${IS_BEGUN}`)

/** What an evaluation begins with. */
export interface Beginning extends Pick<Row, 'through' | 'position' | 'inputs'> {
  readonly first: number
  readonly last: number
}

/**
 * Begins the evaluation of some days. Changes behind its position count for the next one. Does nothing if the
 * progress is not that which was read.
 *
 * @param ids The changed customers that were read, as stored; null: all.
 */
export async function beginEvaluation(
  db: D1Database,
  account: string,
  was: Progress | null,
  begin: Beginning,
  ids: readonly string[] | null,
): Promise<void> {
  const values = {
    ...{ account, ...begin, ids: ids && JSON.stringify(ids) },
    was_through: was?.through ?? null,
    was_position: was?.position ?? null,
    was_first: was?.first ?? null,
    was_last: was?.last ?? null,
    was_cursor: was?.cursor ?? null,
  }
  const statements = [BEGIN, FORGET_CUSTOMERS].map((one) => bindStatement(db, one, values))
  await withD1Retry(() => db.batch(statements))
}

const CHECK = compileStatement(`
  select iif((select (first, last, cursor) is (:first, :last, :cursor) from fraud_progress
    where account = :account), null, ${ABORT})`)

const ADVANCE = compileStatement(`
  update fraud_progress set cursor = :next, too_large = :too_large where account = :account`)

const FINISH = compileStatement(`
  update fraud_progress set through = last, first = null, last = null, cursor = ''
  where account = :account`)

const EXPIRE = compileStatement(`
  update fraud_cases set status = 'expired'
  where account = :account and status = 'open' and action = 'flag' and last_day < :expired_before`)

/** The place of an evaluation: its days, and the last affiliate that is done. */
export type Place = { readonly first: number; readonly last: number; readonly cursor: string }

/** Returns the statement that fails unless the evaluation is at a place. */
export const checkPlace = (db: D1Database, account: string, place: Place) =>
  bindStatement(db, CHECK, { account, ...place })

/** Returns the statement that moves the evaluation behind an affiliate. */
export const advance = (db: D1Database, account: string, next: string, too_large: string) =>
  bindStatement(db, ADVANCE, { account, next, too_large })

/**
 * Ends the evaluation of the days, and flags without new records since a day.
 *
 * @returns How many cases expired.
 */
export async function finishEvaluation(
  db: D1Database,
  account: string,
  place: Place,
  expired_before: number,
): Promise<number> {
  const values = { account, expired_before }
  const statements = [
    checkPlace(db, account, place),
    bindStatement(db, EXPIRE, values),
    bindStatement(db, FINISH, values),
  ]
  const results = await withD1Retry(() => db.batch(statements))
  return results.at(-2)?.meta.changes ?? 0
}
