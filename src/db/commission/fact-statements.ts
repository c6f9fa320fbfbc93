import { limbsOf } from '../records/totals-sql.ts'
import { compileStatement, type Statement } from '../statement.ts'
import type { FactTable } from './fact-tables.ts'

// The records of some customers on some days are found along the primary key (account, day, customer).
// `:days` and `:ids` are JSON arrays; the days are those on which the account has records at all.

/** How the records of customers are found on each day. */
type Way = 'search' | 'scan'

/**
 * `search` makes one search for each customer. `scan` reads all records between the first and the last
 * customer, which is faster where most of them are wanted; the plus keeps SQLite from searching.
 */
const CUSTOMERS: Record<Way, string> = {
  search: 't.customer_id in (select value from json_each(:ids))',
  scan: `t.customer_id between (select min(value) from json_each(:ids))
      and (select max(value) from json_each(:ids))
    and +t.customer_id in (select value from json_each(:ids))`,
}

/** Returns the records of a table, as a `from` clause with its conditions. */
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
   * each way to find them.
   */
  readonly packed: Readonly<Record<Way, Statement>>
}

/** Compiles the statements of a reading; `toSql` reads rows. */
export function factStatements(
  columns: readonly string[],
  toSql: (recordsOf: RecordsOf) => string,
): FactStatements {
  const pack = (way: Way) =>
    compileStatement(`
      select json_group_array(json_array(${columns.join(', ')})) as records
      from (${toSql(recordsBy(way))})`)
  return {
    columns,
    rows: compileStatement(toSql(recordsBy('search'))),
    packed: { search: pack('search'), scan: pack('scan') },
  }
}

/** The names of the limbs of a sum. */
export const limbNames = (name: string) => limbsOf(name, name).map(([as]) => as)

/** Returns the columns that sum a value in limbs. */
export const limbs = (name: string) =>
  limbsOf(name, name)
    .map(([as, sql]) => `${sql} as ${as}`)
    .join(', ')

/** One bit for each value that a record has. */
export const presence = (values: readonly string[]) =>
  `${values.map((value, i) => `(${value} is not null) * ${2 ** i}`).join(' + ')} as present`
