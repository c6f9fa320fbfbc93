import type { Column } from './column-types.ts'

/** The types of a table's rows, which Drizzle infers. No value has these properties at run time. */
interface RowTypes {
  readonly $inferSelect: Record<string, unknown>
  readonly $inferInsert: Record<string, unknown>
}

type ColumnsOf<T extends RowTypes> = Readonly<Record<keyof T['$inferSelect'] & string, Column>>

/** A table, for code that names its columns without writing them out. */
export interface Table<T extends RowTypes = RowTypes> extends Pick<T, keyof RowTypes> {
  readonly $name: string
  /** The columns in the order of the table. */
  readonly $columns: ColumnsOf<T>
  readonly $primaryKey: readonly string[]
  /** The columns of the unique index besides the primary key; null if there is none. */
  readonly $uniqueKey: readonly string[] | null
}

/** Returns a table whose columns are properties, such as `customers.day`. */
export const defineTable = <T extends RowTypes>(
  table: Omit<Table<T>, keyof RowTypes>,
): Table<T> & ColumnsOf<T> => ({ ...table.$columns, ...table }) as Table<T> & ColumnsOf<T>

/** Returns the names of a table's columns, for a SELECT of all of them. */
export const columnNames = ({ $columns }: Pick<Table, '$columns'>): string[] =>
  Object.keys($columns)
