import type { SchemaElement } from 'hyparquet'
import { ByteWriter } from 'hyparquet-writer'
import { ParquetWriter } from 'hyparquet-writer/src/parquet-writer.js'

/**
 * The types of columns, with the values that are written and read:
 * - `text`: a text. Lone surrogates become U+FFFD.
 * - `integer`: a 64-bit integer. It is read as a bigint if it is not a safe integer.
 * - `decimal`: a number, or a decimal as text, of at most 26 digits before the point and 12 behind. It is read as
 *   text without trailing zeros.
 * - `date`: a number of days since 1970-01-01.
 * - `instant`: a number of milliseconds since 1970, in UTC.
 */
export type ColumnType = 'text' | 'integer' | 'decimal' | 'date' | 'instant'

/** A column of a Parquet file. Every column may be null. */
export interface ParquetColumn {
  readonly name: string
  readonly type: ColumnType
}

/** A value of a row: see `ColumnType`. */
export type ParquetValue = string | number | bigint | null

/** The values of a row, in the order of the columns. */
export type ParquetRow = readonly ParquetValue[]

/** A row group has at most this many rows: it is the unit that is read, and is held in memory. */
export const ROWS_PER_GROUP = 10_000

/** Decimals have 38 digits, 12 of them behind the point: every amount of a record, and sums of them. */
export const DECIMAL_PLACES = 12
const DECIMAL_DIGITS = 38
const DECIMAL_BYTES = 16

/** Returns the schema of each type. */
const ELEMENTS: Record<ColumnType, Omit<SchemaElement, 'name' | 'repetition_type'>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  integer: { type: 'INT64' },
  decimal: {
    type: 'FIXED_LEN_BYTE_ARRAY',
    type_length: DECIMAL_BYTES,
    converted_type: 'DECIMAL',
    precision: DECIMAL_DIGITS,
    scale: DECIMAL_PLACES,
  },
  date: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
  instant: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
}

/**
 * Returns a decimal in units of 10^-12.
 *
 * @throws RangeError if it has more digits than a column of decimals.
 */
export function decimalUnits(value: string | number): bigint {
  const [, sign = '', whole = '', places = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? []
  // `1e-7` has its first digit at the seventh place.
  const shift = DECIMAL_PLACES + Number(exponent) - places.length
  const digits = BigInt(`${whole}${places}`)
  const divisor = shift < 0 ? 10n ** BigInt(-shift) : 1n
  if (whole === '' || digits % divisor !== 0n)
    throw new RangeError('The decimal has too many places.')
  const units = shift < 0 ? digits / divisor : digits * 10n ** BigInt(shift)
  if (units >= 10n ** BigInt(DECIMAL_DIGITS)) throw new RangeError('The decimal is too large.')
  return sign === '-' ? -units : units
}

/** Returns a value as the writer takes it. */
function toWritten(type: ColumnType, value: ParquetValue): unknown {
  if (value === null) return null
  switch (type) {
    case 'integer':
    case 'instant':
      return BigInt(value)
    case 'decimal':
      return decimalUnits(typeof value === 'number' ? value : String(value))
    default:
      return value
  }
}

/** A Parquet file that is written row group by row group. */
export interface OpenFile {
  /** Adds a row group of at most 10,000 rows. */
  readonly writeGroup: (rows: readonly ParquetRow[]) => void
  /** Returns the bytes of the file. */
  readonly finish: () => Uint8Array<ArrayBuffer>
}

/**
 * Begins a Parquet file. Equal columns, notes and rows in equal groups give equal bytes, so the digest of a file
 * names its content. `notes` are the file's key-value metadata.
 */
export function openParquet(
  columns: readonly ParquetColumn[],
  notes: Readonly<Record<string, string>> = {},
): OpenFile {
  const writer = new ByteWriter()
  const file = new ParquetWriter({
    writer,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ name, type }) => ({
        name,
        repetition_type: 'OPTIONAL' as const,
        ...ELEMENTS[type],
      })),
    ],
    kvMetadata: Object.entries(notes).map(([key, value]) => ({ key, value })),
    createdBy: 'tributary',
  })
  return {
    writeGroup(rows) {
      if (rows.length > ROWS_PER_GROUP) throw new RangeError('A row group has too many rows.')
      if (rows.length === 0) return
      file.write({
        columnData: columns.map(({ name, type }, i) => ({
          name,
          data: rows.map((row) => toWritten(type, row[i] ?? null)),
        })),
        rowGroupSize: ROWS_PER_GROUP,
      })
    },
    finish() {
      file.finish()
      return new Uint8Array(writer.getBuffer())
    },
  }
}
