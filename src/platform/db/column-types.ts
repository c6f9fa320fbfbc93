import { customType, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
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

/** A day, `YYYY-MM-DD`, stored as the number of days since 1970-01-01. */
export const day = customType<{ data: string; driverData: number }>({
  dataType: () => 'integer',
  toDriver: dayNumber,
  fromDriver: dayText,
})

/** A point in time, as RFC 3339 in UTC with milliseconds, stored as milliseconds since 1970. */
export const instant = customType<{ data: string; driverData: number }>({
  dataType: () => 'integer',
  toDriver: milliseconds,
  fromDriver: (milliseconds) => new Date(milliseconds).toISOString(),
})

/** A column of a table, as far as it converts values. Most columns store what the wire has. */
export type Column = Pick<SQLiteColumn, 'mapToDriverValue' | 'mapFromDriverValue' | 'getSQLType'>

type Columns = Readonly<Record<string, Column>>
type Row = Readonly<Record<string, unknown>>

/** Returns a value as a column stores it. */
export const encode = (column: Column | undefined, value: unknown): unknown =>
  column && (value ?? null) !== null ? column.mapToDriverValue(value) : value

/** Returns a stored value in the form of the wire. */
export const decode = (column: Column | undefined, stored: unknown): unknown =>
  column && (stored ?? null) !== null ? column.mapFromDriverValue(stored) : stored

/** Returns a stored row in the form of the wire. */
export const decodeRow = <T extends Row>(columns: Columns, row: T): T => ({
  ...row,
  ...Object.fromEntries(
    Object.entries(columns)
      .filter(([name]) => name in row)
      .map(([name, column]) => [name, decode(column, row[name])]),
  ),
})
