import { decodeRow } from './column-types.ts'
import type { Connection } from './database.ts'
import { type FoundPage, type Page, paginate } from './paginate.ts'
import { bindStatement, readBatch, type Statement } from './statement.ts'
import { columnNames, encodedColumns, type Table, tableName } from './table.ts'

type Values = Readonly<Record<string, unknown>>

/** Returns the rows of a statement. */
export async function all<Row>(
  db: Connection,
  statement: Statement,
  values: Values = {},
): Promise<Row[]> {
  const [rows] = await readBatch<[Row[]]>(db, [bindStatement(db, statement, values)])
  return rows
}

/** Returns the first row of a statement; null if there is none. */
export const first = async <Row>(
  db: Connection,
  statement: Statement,
  values: Values,
): Promise<Row | null> => (await all<Row>(db, statement, values))[0] ?? null

/**
 * Returns the row of a statement that always has one, such as a sum.
 *
 * @throws Error if there is none.
 */
export async function only<Row>(
  db: Connection,
  statement: Statement,
  values: Values,
): Promise<Row> {
  const row = await first<Row>(db, statement, values)
  if (row === null) throw new Error('A statement that always has a row has none.')
  return row
}

/** Returns the terms of a SET clause for those of the columns that have a value. */
export const setTerms = (columns: readonly string[], values: Values): string[] =>
  columns.filter((name) => values[name] !== undefined).map((name) => `${name} = :${name}`)

/** Which rows of a table a list has, and which of their columns. */
interface RowList<T extends Table, Name extends string> {
  table: T
  /** All columns if absent. */
  columns?: readonly Name[]
  /** The column that orders the rows and tells one from another. */
  key: NoInfer<Name>
  descending?: boolean
  /** Lists the rows of this account; of all accounts if null. */
  account: string | null
}

/** Reads one page of a table's rows. */
export async function listRows<T extends Table, Name extends string & keyof T['$inferSelect']>(
  db: D1Database,
  { table, columns, key, descending = false, account }: RowList<T, Name>,
  page: Page,
): Promise<FoundPage<Pick<T['$inferSelect'], Name>>> {
  const encoded = encodedColumns(table)
  const from = `${tableName(table)} where ${account === null ? 'true' : 'account = :account'}`
  const found = await paginate<Pick<T['$inferSelect'], Name>>(
    db,
    {
      columns: columns ?? columnNames(table),
      from,
      key: [key],
      descending,
      values: { account },
    },
    page,
  )
  return { ...found, data: found.data.map((row) => decodeRow(encoded, row)) }
}
