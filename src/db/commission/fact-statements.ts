import { compileStatement, type Statement } from '../statement.ts'
import type { FactTable } from './fact-tables.ts'

/** How a statement finds the records of customers on each day. */
export type Way = 'search' | 'scan' | 'range'

const RANGE = `t.customer_id between (select min(value) from json_each(:ids))
      and (select max(value) from json_each(:ids))`

/**
 * The condition of each way. `search` searches the index once per customer. `scan` reads all records
 * between the first and the last customer, which is faster if many of these are wanted; the unary plus
 * prevents SQLite from searching. `range` also returns the records of customers that are not wanted,
 * which is faster still if there are few of these.
 */
const CUSTOMERS: Record<Way, string> = {
  search: 't.customer_id in (select value from json_each(:ids))',
  scan: `${RANGE}
    and +t.customer_id in (select value from json_each(:ids))`,
  range: RANGE,
}

/** Returns the SQL after `from` that selects the records of some customers on some days. */
export type RecordsOf = (table: FactTable) => string

const recordsBy =
  (way: Way): RecordsOf =>
  ({ table, dayColumn }) =>
    `${table} t not indexed
    where t.account = :account and t.${dayColumn} in (select value from json_each(:days))
      and ${CUSTOMERS[way]} and t.held = 0`

/** The statements of a query, and the columns of its rows. */
export interface FactStatements {
  readonly columns: readonly string[]
  /** Reads at most `:rows` rows, one by one. */
  readonly rows: Statement
  /**
   * Reads all rows packed: as one row, whose column `records` is a JSON array of arrays. D1 returns
   * this four times as fast. There is one statement for each way to find the records. SQLite fails at
   * 2 MB of JSON; a limit of rows would make it copy each row first.
   */
  readonly packed: Readonly<Record<Way, Statement>>
}

/** Compiles the statements of a query. */
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

/** The maximum number of arguments of one `json_array`; D1 allows 32 arguments for a function. */
const MAX_ARGUMENTS = 30

/**
 * Returns the SQL of a JSON array of the columns: an array of arrays if they are too many for one
 * call.
 */
function arrayOf(columns: readonly string[]): string {
  if (columns.length <= MAX_ARGUMENTS) return `json_array(${columns.join(', ')})`
  const parts: string[] = []
  for (let start = 0; start < columns.length; start += MAX_ARGUMENTS) {
    parts.push(`json_array(${columns.slice(start, start + MAX_ARGUMENTS).join(', ')})`)
  }
  return `json_array(${parts.join(', ')})`
}

/** Returns the values of a packed row in the order of its columns. */
export const unpackRow = <T>(row: readonly (T | readonly T[])[], columns: number): readonly T[] =>
  (columns <= MAX_ARGUMENTS ? row : row.flat()) as readonly T[]
