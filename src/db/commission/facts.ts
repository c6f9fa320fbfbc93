import { withD1Retry } from '../retry.ts'
import { bindStatement } from '../statement.ts'
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

/** Reads the days of a range on which an account has records of a table, in order. */
export async function readFactDays(
  db: Connection,
  table: FactTable,
  account: string,
  range: { readonly first: number; readonly last: number },
): Promise<number[]> {
  const values = { account, first_day: range.first, last_day: range.last }
  const { results } = await withD1Retry(() =>
    bindStatement(db, sql.factDays(table), values).all<{ day: number }>(),
  )
  return results.map(({ day }) => day)
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

/** Returns the day on which the first customer of an account signed up; null if it has none. */
export async function firstSignupDay(db: Connection, account: string): Promise<number | null> {
  const row = await withD1Retry(() =>
    bindStatement(db, sql.FIRST_SIGNUP, { account }).first<{ day: number | null }>(),
  )
  return row?.day ?? null
}
