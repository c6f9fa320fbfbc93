import { compileStatement, type Statement } from '../statement.ts'
import type { FactTable } from './fact-tables.ts'

/** How the records of customers are found on each day. */
export type Way = 'search' | 'scan' | 'range'

const RANGE = `t.customer_id between (select min(value) from json_each(:ids))
      and (select max(value) from json_each(:ids))`

/**
 * `search` makes one search for each customer. `scan` reads all records between the first and the last
 * customer, which is faster where many of them are wanted; the plus keeps SQLite from searching.
 * `range` also returns those that are not wanted, which is faster still if they are few.
 */
const CUSTOMERS: Record<Way, string> = {
  search: 't.customer_id in (select value from json_each(:ids))',
  scan: `${RANGE}
    and +t.customer_id in (select value from json_each(:ids))`,
  range: RANGE,
}

/** Returns the `from` and `where` of the records of a table that a reading is for. */
export type RecordsOf = (table: FactTable) => string

const recordsBy =
  (way: Way): RecordsOf =>
  ({ table, dayColumn }) =>
    `${table} t not indexed
    where t.account = :account and t.${dayColumn} in (select value from json_each(:days))
      and ${CUSTOMERS[way]} and t.held = 0`

/** The statements of a reading, and the columns of a row. */
export interface FactStatements {
  readonly columns: readonly string[]
  /** Reads rows. */
  readonly rows: Statement
  /**
   * Reads all rows as one JSON array `records` of arrays, which D1 passes on four times as fast: in
   * each way to find them. SQLite stops at 2 MB; a limit of rows would make it copy each row first.
   */
  readonly packed: Readonly<Record<Way, Statement>>
}

/** Compiles the statements of a reading. */
export function factStatements(
  columns: readonly string[],
  toSql: (recordsOf: RecordsOf) => string,
): FactStatements {
  const pack = (way: Way) =>
    compileStatement(`
      select json_group_array(${arrayOf(columns)}) as records
      from (${toSql(recordsBy(way))})`)
  return {
    columns,
    rows: compileStatement(`${toSql(recordsBy('search'))} limit :rows`),
    packed: { search: pack('search'), scan: pack('scan'), range: pack('range') },
  }
}

/** The most arguments of one `json_array`; D1 allows 32 for a function. */
const MAX_ARGUMENTS = 30

/** Returns an array of the columns: several arrays within one if there are too many for one call. */
function arrayOf(columns: readonly string[]): string {
  if (columns.length <= MAX_ARGUMENTS) return `json_array(${columns.join(', ')})`
  const parts: string[] = []
  for (let start = 0; start < columns.length; start += MAX_ARGUMENTS) {
    parts.push(`json_array(${columns.slice(start, start + MAX_ARGUMENTS).join(', ')})`)
  }
  return `json_array(${parts.join(', ')})`
}

/** Returns the values of a packed row in the order of the columns. */
export const unpackRow = <T>(row: readonly (T | readonly T[])[], columns: number): readonly T[] =>
  (columns <= MAX_ARGUMENTS ? row : row.flat()) as readonly T[]
