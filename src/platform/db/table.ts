import { getTableColumns, getTableName, is } from 'drizzle-orm'
import { getTableConfig, SQLiteCustomColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Column } from './column-types.ts'

/** A table of the schema, for code that names its columns without writing them out. */
export type Table = SQLiteTable

/** Returns the name of a table. */
export const tableName = (table: Table): string => getTableName(table)

/** Returns the names of a table's columns, in the order of the table. */
export const columnNames = (table: Table): string[] => Object.keys(getTableColumns(table))

/** Returns the columns that are stored in another form than that of the wire. */
export const encodedColumns = (table: Table): Record<string, Column> =>
  Object.fromEntries(
    Object.entries(getTableColumns(table)).filter(([, column]) => is(column, SQLiteCustomColumn)),
  )

/** Returns the names of the columns of a table's primary key. */
export function primaryKeyOf(table: Table): string[] {
  const { primaryKeys, columns } = getTableConfig(table)
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary)
  return key.map(({ name }) => name)
}

/** Returns the names of the columns of the unique index besides the primary key; null if there is none. */
export function uniqueKeyOf(table: Table): string[] | null {
  const [index] = getTableConfig(table).indexes
  return index ? index.config.columns.map((column) => String(Reflect.get(column, 'name'))) : null
}
