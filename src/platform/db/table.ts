import { type Column, day, instant, type StoredColumn } from './column-types.ts'

/** A table of the schema, for code that names its columns without writing them out. `Row` is a row in the form of the wire. */
export interface Table<Row extends object = object> {
  readonly name: string
  /** In the order of the table. */
  readonly columns: Readonly<Record<keyof Row & string, StoredColumn>>
  /** The names of the columns of the primary key. */
  readonly primaryKey: readonly string[]
  /** The names of the columns of the unique index besides the primary key; null if there is none. */
  readonly uniqueKey: readonly string[] | null
}

/** The rows of a table. */
export type RowOf<T> = T extends Table<infer Row> ? Row : never

/** Returns the names of a table's columns, in the order of the table. */
export const columnNames = (table: Table): string[] => Object.keys(table.columns)

/** Returns the columns that are stored in another form than that of the wire. */
export const encodedColumns = (table: Table): Record<string, Column> =>
  Object.fromEntries(
    Object.entries<StoredColumn>(table.columns).flatMap(([name, stored]) => {
      const column = [day, instant].find((one) => one === stored)
      return column ? [[name, column]] : []
    }),
  )
