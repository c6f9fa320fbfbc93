import { DAY_MS } from '../durations.ts'

// Types of columns that are stored shorter than they are written on the wire: days and points in time
// as integers. They are exact both ways. Code sees the form of the
// wire; SQL sees what is stored.

/** The day that was converted last. A feed sends records of one day. */
let last = { text: '1970-01-01', days: 0 }

/** Returns the number of days from 1970-01-01 to a day; NaN if the text is not a day. */
export function dayNumber(text: string): number {
  // The runtime takes 5 microseconds to parse a date.
  if (text !== last.text) last = { text, days: Date.parse(text) / DAY_MS }
  return last.days
}

/** Matches a point in time as `instant` stores it. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Returns the number that digits of a text are. */
function digits(text: string, from: number, to: number): number {
  let number = 0
  for (let i = from; i < to; i++) number = number * 10 + text.charCodeAt(i) - 48
  return number
}

/** Returns the milliseconds since 1970 of a point in time. */
function milliseconds(text: string): number {
  if (!INSTANT.test(text)) return Date.parse(text)
  const minutes = digits(text, 11, 13) * 60 + digits(text, 14, 16)
  const seconds = minutes * 60 + digits(text, 17, 19)
  return dayNumber(text.slice(0, 10)) * DAY_MS + seconds * 1000 + digits(text, 20, 23)
}

/** Returns `YYYY-MM-DD` of a number of days since 1970-01-01. */
export const dayText = (days: number): string => new Date(days * DAY_MS).toISOString().slice(0, 10)

/** A column of a table. */
export interface StoredColumn {
  /** As SQL declares it. */
  readonly type: 'text' | 'real' | 'integer'
}

/** A column that is stored in another form than that of the wire. */
export interface Column extends StoredColumn {
  /** Returns a value as the column stores it. */
  toStored(value: unknown): unknown
  /** Returns a stored value in the form of the wire. */
  fromStored(stored: unknown): unknown
}

/** A text, or JSON. */
export const text: StoredColumn = { type: 'text' }

/** A decimal number. */
export const real: StoredColumn = { type: 'real' }

/** A whole number. */
export const integer: StoredColumn = { type: 'integer' }

/** A day, `YYYY-MM-DD`, stored as the number of days since 1970-01-01. */
export const day: Column = { type: 'integer', toStored: dayNumber, fromStored: dayText }

/** A point in time, as RFC 3339 in UTC with milliseconds, stored as milliseconds since 1970. */
export const instant: Column = {
  type: 'integer',
  toStored: milliseconds,
  fromStored: (stored: number) => new Date(stored).toISOString(),
}

type Columns = Readonly<Record<string, Column>>
type Row = Readonly<Record<string, unknown>>

/** Returns a value as a column stores it. */
export const encode = (column: Column | undefined, value: unknown): unknown =>
  column && (value ?? null) !== null ? column.toStored(value) : value

/** Returns a stored value in the form of the wire. */
export const decode = (column: Column | undefined, stored: unknown): unknown =>
  column && (stored ?? null) !== null ? column.fromStored(stored) : stored

/** Returns a stored row in the form of the wire. */
export const decodeRow = <T extends Row>(columns: Columns, row: T): T => ({
  ...row,
  ...Object.fromEntries(
    Object.entries(columns)
      .filter(([name]) => name in row)
      .map(([name, column]) => [name, decode(column, row[name])]),
  ),
})
