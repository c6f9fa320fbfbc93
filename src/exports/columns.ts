import { dayNumber } from '../platform/money/calendar.ts'
import type {
  ColumnType,
  ParquetColumn,
  ParquetRow,
  ParquetValue,
} from '../platform/parquet/file.ts'

/** A row as it was read. */
export type Row = Readonly<Record<string, unknown>>

/** A column of an export: its name on the wire, its type, and its value in a row that was read. */
export interface ExportColumn extends ParquetColumn {
  readonly read: (row: Row) => ParquetValue
}

/** Returns a value that the writer takes as it is: a text, a number or null. */
const plain = (value: unknown): ParquetValue =>
  typeof value === 'string' || typeof value === 'number' ? value : null

/** How values that are read become those of a type. */
const CONVERT: Record<ColumnType, (value: string) => ParquetValue> = {
  text: (value) => value,
  decimal: (value) => value,
  integer: Number,
  date: dayNumber,
  instant: Date.parse,
}

/** Returns a column whose value is read under a name: a day and an instant as text. */
export const column = (name: string, type: ColumnType = 'text', from = name): ExportColumn => ({
  name,
  type,
  read: (row) => {
    const value = plain(row[from])
    return typeof value === 'string' ? CONVERT[type](value) : value
  },
})

/** Returns a column of JSON: null, or what the row has. */
export const jsonColumn = (name: string): ExportColumn => ({
  name,
  type: 'text',
  read: (row) => {
    const value = row[name]
    return (value ?? null) === null ? null : JSON.stringify(value)
  },
})

/** Returns the cells of a row. */
export const cellsOf = (columns: readonly ExportColumn[], row: Row): ParquetRow =>
  columns.map(({ read }) => read(row))
