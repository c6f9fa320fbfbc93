import { customType, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { DAY_MS } from '../durations.ts'
import { fullId, shortId } from './short-id.ts'

// Types of columns that are stored shorter than they are written on the wire: days and points in time
// as integers, ids that are UUIDs as 21 characters. They are exact both ways. Code sees the form of the
// wire; SQL sees what is stored.

/** The numbers of days by their text: a bulk has few days, and `Date.parse` takes ten times as long. */
const dayNumbers = new Map<string, number>()
const MAX_DAY_NUMBERS = 1000

/** Returns the number of days from 1970-01-01 to a day; NaN if the text is not a day. */
export function dayNumber(text: string): number {
  const known = dayNumbers.get(text)
  if (known !== undefined) return known
  const number = Date.parse(text) / DAY_MS
  if (dayNumbers.size === MAX_DAY_NUMBERS) dayNumbers.clear()
  dayNumbers.set(text, number)
  return number
}

/** Returns `YYYY-MM-DD` of a number of days since 1970-01-01. */
export const dayText = (days: number): string => new Date(days * DAY_MS).toISOString().slice(0, 10)

const ZERO = 48

/** Returns the time of day in `2026-10-02T10:20:30.456Z`, in milliseconds. */
function clockTime(text: string): number {
  const digit = (i: number) => text.charCodeAt(i) - ZERO
  const two = (i: number) => digit(i) * 10 + digit(i + 1)
  const seconds = (two(11) * 60 + two(14)) * 60 + two(17)
  return seconds * 1000 + two(20) * 10 + digit(22)
}

/** A day, `YYYY-MM-DD`, stored as the number of days since 1970-01-01. */
export const day = customType<{ data: string; driverData: number }>({
  dataType: () => 'integer',
  toDriver: dayNumber,
  fromDriver: dayText,
})

/** The id of a record or customer, stored in its short form. */
export const id = customType<{ data: string; driverData: string }>({
  dataType: () => 'text',
  toDriver: shortId,
  fromDriver: fullId,
})

/** A point in time, as RFC 3339 in UTC with milliseconds, stored as milliseconds since 1970. */
export const instant = customType<{ data: string; driverData: number }>({
  dataType: () => 'integer',
  toDriver: (text) => dayNumber(text.slice(0, 10)) * DAY_MS + clockTime(text),
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
