import { withD1Retry } from '../retry.ts'
import { bindStatement } from '../statement.ts'
import {
  type BookedRow,
  FIRST_BOOKED,
  type FirstBooked,
  toFirstBooked,
} from './books/first-booked.ts'
import type { FactReading } from './fact-readings.ts'
import { FACT_LIMITS, type FactTable } from './fact-tables.ts'
import * as sql from './facts-sql.ts'
import {
  type Connection,
  type CustomersReading,
  type FactRow,
  readPacked,
  valuesOf,
} from './packed-facts.ts'

export type { Connection, FactRow } from './packed-facts.ts'

/** Where the records and the books of an account begin. */
export interface Beginnings {
  /** The days on which each table has records, in order. */
  readonly days: readonly (readonly number[])[]
  /** The day on which the first customer signed up; null if there is none. */
  readonly signupDay: number | null
  readonly booked: FirstBooked
}

/** Before and after all stored days. */
const ALL_DAYS = { first_day: -719_528, last_day: 2_932_896 }

/** What a batch returns: the first signup, the books, and the days of each table. */
type BeginningRows = [
  signup: D1Result<{ day: number | null }>,
  booked: D1Result<BookedRow>,
  ...days: D1Result<{ day: number }>[],
]

/** Reads where the records of some tables and the books of an account begin, in one round trip. */
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
 * Reads the rows of each reading's customers; there may be rows of other customers among them. All
 * readings are one round trip.
 */
export async function readFactRows(
  db: Connection,
  account: string,
  readings: readonly CustomersReading[],
): Promise<(readonly FactRow[])[]> {
  if (readings.length === 0) return []
  const packed = await readPacked(db, account, readings)
  return Promise.all(readings.map((one, i) => packed?.rows[i] ?? readParts(db, account, one)))
}

/** Makes a reading in two halves, and divides each half again if it has too many rows. */
async function readParts(
  db: Connection,
  account: string,
  { reading, ids, share }: CustomersReading,
): Promise<FactRow[]> {
  const rows: FactRow[] = []
  for (const [part, partIds] of halves(reading, ids)) {
    const isLeast = partIds.length === 1 && part.days.length === 1
    const half = { reading: part, ids: partIds, share }
    const packed = isLeast
      ? await readRows(db, account, part, partIds)
      : (await readPacked(db, account, [half]))?.rows[0]
    for (const row of packed ?? (await readParts(db, account, half))) rows.push(row)
  }
  return rows
}

/** Reads the rows of one customer and day. */
async function readRows(
  db: Connection,
  account: string,
  one: FactReading,
  ids: readonly string[],
): Promise<FactRow[]> {
  const limit = FACT_LIMITS.rowsOfDay
  const values = valuesOf(account, one, ids, limit)
  const { results } = await withD1Retry(() =>
    bindStatement(db, one.statements.rows, values).all<FactRow>(),
  )
  if (results.length > limit) throw new Error('One customer has too many records on a day.')
  return results
}

/** Divides a reading by customers or, for a single customer, by days. */
function halves(
  one: FactReading,
  ids: readonly string[],
): (readonly [FactReading, readonly string[]])[] {
  const half = <T>(list: readonly T[]) => Math.ceil(list.length / 2)
  if (ids.length > 1)
    return [[one, ids.slice(0, half(ids))] as const, [one, ids.slice(half(ids))] as const]
  const { days } = one
  if (days.length <= 1) return [[one, ids]]
  return [
    [{ ...one, days: days.slice(0, half(days)) }, ids],
    [{ ...one, days: days.slice(half(days)) }, ids],
  ]
}

/** When a customer signed up: the instant if one was sent, and the day. */
export interface SignupRow {
  readonly customer_id: string
  readonly day: number
  readonly signup_date: number | null
  readonly delivery: string
}

/** Reads when customers signed up; `ids` are stored ids. */
export async function readSignups(
  db: Connection,
  account: string,
  ids: readonly string[],
): Promise<SignupRow[]> {
  const values = { account, ids: JSON.stringify(ids) }
  const { results } = await withD1Retry(() =>
    bindStatement(db, sql.SIGNUPS, values).all<SignupRow>(),
  )
  return results
}
