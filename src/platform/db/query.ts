import type { Connection } from './database.ts'
import { bindStatement, readBatch, type Statement } from './statement.ts'

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
