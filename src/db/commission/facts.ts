import { withD1Retry } from '../retry.ts'
import { bindStatement } from '../statement.ts'
import type { FactReading } from './fact-readings.ts'
import { FACT_LIMITS, type FactTable } from './fact-tables.ts'
import * as sql from './facts-sql.ts'

/** A row of a table with facts, as it is stored. */
export type FactRow = Record<string, string | number | null>

/** A database, or a session of one. */
export type Connection = Pick<D1DatabaseSession, 'prepare' | 'batch'>

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

/** Reads the rows of some customers; `ids` are stored ids. All readings are one round trip. */
export async function readFactRows(
  db: Connection,
  account: string,
  readings: readonly FactReading[],
  ids: readonly string[],
): Promise<(readonly FactRow[])[]> {
  if (readings.length === 0) return []
  const results = await withD1Retry(() =>
    db.batch<FactRow>(readings.map((one) => bindReading(db, account, one, ids, FACT_LIMITS.rows))),
  )
  return Promise.all(
    readings.map((one, i) => {
      const rows = results[i]?.results ?? []
      return rows.length > FACT_LIMITS.rows ? readParts(db, account, one, ids) : rows
    }),
  )
}

const bindReading = (
  db: Connection,
  account: string,
  { statement, values, days }: FactReading,
  ids: readonly string[],
  rows: number,
) =>
  bindStatement(db, statement, {
    ...values,
    account,
    days: JSON.stringify(days),
    ids: JSON.stringify(ids),
    rows: rows + 1,
    records: -1,
  })

/** Reads a reading in two parts, and each of them likewise if it has too many rows. */
async function readParts(
  db: Connection,
  account: string,
  one: FactReading,
  ids: readonly string[],
): Promise<FactRow[]> {
  const rows: FactRow[] = []
  for (const [part, partIds] of halves(one, ids)) {
    const limit =
      partIds.length === 1 && part.days.length === 1 ? FACT_LIMITS.rowsOfDay : FACT_LIMITS.rows
    const { results } = await withD1Retry(() =>
      bindReading(db, account, part, partIds, limit).all<FactRow>(),
    )
    if (results.length <= limit) for (const row of results) rows.push(row)
    else if (limit === FACT_LIMITS.rowsOfDay)
      throw new Error('One customer has too many records on a day.')
    else for (const row of await readParts(db, account, part, partIds)) rows.push(row)
  }
  return rows
}

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
