import { CODECS, type ColumnType } from './column-types.ts'

/** A table of the schema, for code that names its columns without writing them out. */
export interface Table<Row = object> {
  readonly name: string
  /** In the order of the table. */
  readonly columns: Readonly<Record<string, ColumnType>>
  readonly primaryKey: readonly string[]
  /** The columns of the unique index besides the primary key; null if there is none. */
  readonly uniqueKey: readonly string[] | null
  /** The type of a row in the form of the wire: no table has this member. */
  readonly $inferSelect: Row
}

/** Returns the names of a table's columns, in the order of the table. */
export const columnNames = ({ columns }: Table): string[] => Object.keys(columns)

/** Returns the columns that are stored in another form than that of the wire. */
export const encodedColumns = ({ columns }: Table): Table['columns'] =>
  Object.fromEntries(Object.entries(columns).filter(([, type]) => CODECS[type]))
