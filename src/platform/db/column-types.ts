import { DAY_MS } from '../durations.ts'

// Types of columns that are stored shorter than they are written on the wire: days and points in time
// as integers. They are exact both ways. Code sees the form of the
// wire; SQL sees what is stored.

/** Returns the number of days from 1970-01-01 to a day; NaN if the text is not a day. */
export const dayNumber = (text: string): number => Date.parse(text) / DAY_MS

/** Returns `YYYY-MM-DD` of a number of days since 1970-01-01. */
export const dayText = (days: number): string => new Date(days * DAY_MS).toISOString().slice(0, 10)

/** How a column stores its values. */
export type ColumnType = 'text' | 'real' | 'integer' | 'day' | 'instant'

interface Codec {
  readonly encode: (text: string) => number
  readonly decode: (stored: number) => string
}

/** How types store what the wire has in another form. */
export const CODECS: Readonly<Partial<Record<ColumnType, Codec>>> = {
  day: { encode: dayNumber, decode: dayText },
  /** A point in time, as RFC 3339 in UTC with milliseconds, stored as milliseconds since 1970. */
  instant: { encode: Date.parse, decode: (milliseconds) => new Date(milliseconds).toISOString() },
}

type Row = Readonly<Record<string, unknown>>

/** Returns a value as a column of a type stores it. */
export function encode(type: ColumnType | undefined, value: unknown): unknown {
  const codec = type && CODECS[type]
  return codec && (value ?? null) !== null ? codec.encode(value as string) : value
}

/** Returns a stored value in the form of the wire. */
export function decode(type: ColumnType | undefined, stored: unknown): unknown {
  const codec = type && CODECS[type]
  return codec && (stored ?? null) !== null ? codec.decode(stored as number) : stored
}

/** Returns a stored row in the form of the wire. */
export const decodeRow = <T extends Row>(
  columns: Readonly<Record<string, ColumnType>>,
  row: T,
): T => ({
  ...row,
  ...Object.fromEntries(
    Object.entries(columns)
      .filter(([name]) => name in row)
      .map(([name, type]) => [name, decode(type, row[name])]),
  ),
})
