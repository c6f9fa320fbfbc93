import { withD1Retry } from '../../platform/db/retry.ts'
import { COPY_LIMITS, type Key } from './place.ts'
import { type MovedTable, quoted } from './tables.ts'

/** A stored row: its columns in the order of the table. */
export type StoredRow = readonly unknown[]

/** The largest integer, and the largest number, that a result of D1 has without loss. */
const EXACT = { INTEGER: '9007199254740991', REAL: '1.7976931348623157e308' } as const

/** Returns the SQL of a column as it leaves the database without loss. */
function exactValue({ name, type }: MovedTable['columns'][number]): string {
  const column = quoted(name)
  if (type !== 'INTEGER' && type !== 'REAL') return column
  // An integer as text becomes the same integer in the copy.
  return `iif(${column} between -${EXACT[type]} and ${EXACT[type]}, ${column}, cast(${column} as text))`
}

const valuesOf = ({ columns }: MovedTable) => columns.map(exactValue).join()

/** Returns the SQL of about how many characters a row has. */
const sizeOf = ({ columns }: MovedTable) =>
  columns
    .map(({ name, type }) => (type === 'TEXT' ? `ifnull(length(t.${quoted(name)}), 0)` : '8'))
    .join(' + ')

/** Returns the primary key of a row. */
export const rowKey = (table: MovedTable, row: StoredRow): Key =>
  table.key.map((name) => {
    const value = row[table.columns.findIndex((column) => column.name === name)]
    return typeof value === 'number' ? value : String(value)
  })

/** Rows that follow each other, and whether they are the last of the account. */
export interface TablePage {
  readonly found: readonly StoredRow[]
  readonly isLast: boolean
}

/** Reads the rows of an account behind a key, or the first ones, bounded by rows and by characters. */
export async function readPage(
  db: D1Database,
  table: MovedTable,
  account: string,
  after: Key | null,
): Promise<TablePage> {
  const key = table.key.map(quoted).join()
  const marks = table.key.map((_, i) => `?${2 + i}`).join()
  const lower = after ? ` and (${key}) > (${marks})` : ''
  const order = key && ` order by ${key}`
  const size = sizeOf(table)
  const most = COPY_LIMITS.rows
  const sql = `
    select ${valuesOf(table)}, "number" from (
      select *, count(*) over () as "number",
        sum(${size}) over (${order} rows unbounded preceding) - (${size}) as "characters before"
      from (select * from ${quoted(table.name)} where account = ?1${lower}${order} limit ${most + 1}) t
    ) where "characters before" <= ${COPY_LIMITS.characters}${order}`
  const read = await readRaw(db, sql, [account, ...(after ?? [])])
  const found = read.slice(0, most).map((row) => row.slice(0, -1))
  // A row more than the page is searched for.
  return { found, isLast: found.length === 0 || found.length === read[0]?.at(-1) }
}

const readRaw = (db: D1Database, sql: string, values: readonly unknown[]): Promise<unknown[][]> =>
  withD1Retry(() =>
    db
      .prepare(sql)
      .bind(...values)
      .raw<unknown[]>(),
  )
