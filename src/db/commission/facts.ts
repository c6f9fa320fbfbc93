import type { Connection } from '../database.ts'
import { all } from '../query.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement } from '../statement.ts'
import {
  type BookedRow,
  FIRST_BOOKED,
  type FirstBooked,
  toFirstBooked,
} from './books/first-booked.ts'
import { FACT_LIMITS, type FactTable } from './fact-tables.ts'
import * as sql from './facts-sql.ts'
import { type CustomerFactQuery, type FactRow, readPacked, valuesOf } from './packed-facts.ts'

/** Where the records and the books of an account begin. */
export interface Beginnings {
  /** The days on which each of the requested tables has records, in order of time. */
  readonly days: readonly (readonly number[])[]
  /** The day on which the first customer signed up; null if there is none. */
  readonly signupDay: number | null
  readonly booked: FirstBooked
}

/** Days before and after all stored days. */
const ALL_DAYS = { first_day: -719_528, last_day: 2_932_896 }

/** What the batch of `readBeginnings` returns. */
type BeginningRows = [
  signup: D1Result<{ day: number | null }>,
  booked: D1Result<BookedRow>,
  ...days: D1Result<{ day: number }>[],
]

/** Finds where the books of an account and the records of some tables begin, in one round trip. */
export async function readBeginnings(
  db: Connection,
  account: string,
  tables: readonly FactTable[],
): Promise<Beginnings> {
  const values = { account, ...ALL_DAYS }
  const statements = [sql.FIRST_SIGNUP, FIRST_BOOKED, ...tables.map(sql.factDays)]
  const results = await withD1Retry(() =>
    db.batch(statements.map((one) => bindStatement(db, one, values))),
  )
  const [signup, booked, ...days] = results as BeginningRows
  return {
    days: days.map((found) => found.results.map(({ day }) => day)),
    signupDay: signup.results[0]?.day ?? null,
    booked: toFirstBooked(booked.results),
  }
}

/**
 * Reads the rows of each query in one round trip, or in several if there are too many rows for one. May
 * also return rows of customers who were not asked for.
 */
export async function readFactRows(
  db: Connection,
  account: string,
  queries: readonly CustomerFactQuery[],
): Promise<(readonly FactRow[])[]> {
  if (queries.length === 0) return []
  const packed = await readPacked(db, account, queries)
  return Promise.all(queries.map((one, i) => packed?.rows[i] ?? readHalves(db, account, one)))
}

/** Reads the rows of a query in two halves, and divides a half again if it has too many rows. */
async function readHalves(
  db: Connection,
  account: string,
  whole: CustomerFactQuery,
): Promise<FactRow[]> {
  const rows: FactRow[] = []
  for (const half of halvesOf(whole)) {
    const isSmallest = half.ids.length === 1 && half.query.days.length === 1
    const found = isSmallest
      ? await readDay(db, account, half)
      : (await readPacked(db, account, [half]))?.rows[0]
    for (const row of found ?? (await readHalves(db, account, half))) rows.push(row)
  }
  return rows
}

/** Reads the rows of one customer and day. Throws if there are more than `FACT_LIMITS.rowsOfDay`. */
async function readDay(
  db: Connection,
  account: string,
  { query, ids }: CustomerFactQuery,
): Promise<FactRow[]> {
  const limit = FACT_LIMITS.rowsOfDay
  const values = valuesOf(account, query, ids, limit)
  const results = await all<FactRow>(db, query.statements.rows, values)
  if (results.length > limit) throw new Error('One customer has too many records on a day.')
  return results
}

/** Divides a query by customers or, if it has only one customer, by days. */
function halvesOf(whole: CustomerFactQuery): CustomerFactQuery[] {
  const { query, ids } = whole
  if (ids.length > 1) return halve(ids).map((half) => ({ ...whole, ids: half }))
  if (query.days.length <= 1) return [whole]
  return halve(query.days).map((days) => ({ ...whole, query: { ...query, days } }))
}

/** Returns the first half of a list, which may be longer by one, and the second half. */
function halve<T>(list: readonly T[]): [T[], T[]] {
  const middle = Math.ceil(list.length / 2)
  return [list.slice(0, middle), list.slice(middle)]
}

/** When a customer signed up: the instant if it is known, and the day. */
export interface SignupRow {
  readonly customer_id: string
  /** The day in control totals. */
  readonly day: number
  readonly signup_date: number | null
  /** The day of the signup: an earlier one if events of a brand waited for the customer. */
  readonly signup_day: number
  readonly delivery: string
}

/** Reads when customers signed up; `ids` are stored ids. */
export async function readSignups(
  db: Connection,
  account: string,
  ids: readonly string[],
): Promise<SignupRow[]> {
  const values = { account, ids: JSON.stringify(ids) }
  return all<SignupRow>(db, sql.SIGNUPS, values)
}
