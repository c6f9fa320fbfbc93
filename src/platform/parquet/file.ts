import type { ParquetType } from 'hyparquet'
import { ParquetTypes } from 'hyparquet/src/constants.js'
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import { writePlain } from 'hyparquet-writer/src/plain.js'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import { serializeTCompactProtocol } from 'hyparquet-writer/src/thrift.js'

/**
 * The types of columns, with the values that are written and read:
 * - `text`: a text. Lone surrogates become U+FFFD.
 * - `integer`: a 64-bit integer. It is read as a bigint if it is not a safe integer.
 * - `double`: a number, to the bit.
 * - `boolean`: true or false.
 * - `decimal`: a number, or a decimal as text, of at most 26 digits before the point and 12 behind. It is read as
 *   text without trailing zeros.
 * - `date`: a number of days since 1970-01-01.
 * - `instant`: a number of milliseconds since 1970, in UTC.
 */
export type ColumnType = 'text' | 'integer' | 'double' | 'boolean' | 'decimal' | 'date' | 'instant'

/** A column of a Parquet file. Every column may be null. */
export interface ParquetColumn {
  readonly name: string
  readonly type: ColumnType
}

/** A value of a row: see `ColumnType`. */
export type ParquetValue = string | number | bigint | boolean | null

/** The values of a row, in the order of the columns. */
export type ParquetRow = readonly ParquetValue[]

/** A row group has at most this many rows: it is the unit that is read, and is held in memory. */
export const ROWS_PER_GROUP = 10_000

/** Decimals have 38 digits, 12 of them behind the point: every amount of a record, and sums of them. */
export const DECIMAL_PLACES = 12
const DECIMAL_DIGITS = 38
const DECIMAL_BYTES = 16

/** How a type is stored: its physical type, and the fields of its element of the schema, by their numbers in Thrift. */
interface Stored {
  readonly plain: ParquetType
  readonly element: Readonly<Record<`field_${number}`, unknown>>
}

/** @see parquet.thrift: `Type`, `ConvertedType` (6), precision, scale and `LogicalType` (10) of a `SchemaElement`. */
const STORED: Record<ColumnType, Stored> = {
  text: { plain: 'BYTE_ARRAY', element: { field_6: 0, field_10: { field_1: {} } } },
  integer: { plain: 'INT64', element: {} },
  double: { plain: 'DOUBLE', element: {} },
  boolean: { plain: 'BOOLEAN', element: {} },
  decimal: {
    plain: 'FIXED_LEN_BYTE_ARRAY',
    element: { field_6: 5, field_7: DECIMAL_PLACES, field_8: DECIMAL_DIGITS },
  },
  date: { plain: 'INT32', element: { field_6: 6, field_10: { field_6: {} } } },
  instant: {
    plain: 'INT64',
    element: { field_6: 9, field_10: { field_8: { field_1: true, field_2: { field_1: {} } } } },
  },
}

/** The numbers of names in parquet.thrift. */
const OPTIONAL = 1
const PLAIN = 0
const RLE = 3
const SNAPPY = 1
const DATA_PAGE_V2 = 3
const MAGIC = new TextEncoder().encode('PAR1')

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

/** Returns the bytes of a decimal: two's complement, the highest byte first. */
function decimalBytes(value: string | number): Uint8Array {
  const units = BigInt.asUintN(8 * DECIMAL_BYTES, decimalUnits(value))
  return Uint8Array.fromHex(units.toString(16).padStart(2 * DECIMAL_BYTES, '0'))
}

/** Returns a value as its physical type is written. */
function toWritten(type: ColumnType, value: string | number | bigint | boolean): unknown {
  switch (type) {
    case 'integer':
    case 'instant':
      return BigInt(value)
    case 'decimal':
      return decimalBytes(typeof value === 'number' ? value : String(value))
    default:
      return value
  }
}

/** Writes the values of a column of a row group as one page. Returns its chunk, as the metadata of the file names it. */
function writeColumn(writer: ByteWriter, column: ParquetColumn, values: readonly ParquetValue[]) {
  const offset = writer.offset
  const levels = new ByteWriter()
  writeRleBitPackedHybrid(
    levels,
    values.map((value) => (value === null ? 0 : 1)),
    1,
  )
  const present = values.filter((value) => value !== null)
  const page = new ByteWriter()
  const { plain } = STORED[column.type]
  const written = present.map((value) => toWritten(column.type, value))
  writePlain(page, written, plain, DECIMAL_BYTES)
  const compressed = snappyCompress(page.getBytes())
  const size = levels.offset + page.offset
  serializeTCompactProtocol(writer, {
    field_1: DATA_PAGE_V2,
    field_2: size,
    field_3: levels.offset + compressed.length,
    field_8: {
      field_1: values.length,
      field_2: values.length - present.length,
      field_3: values.length,
      field_4: PLAIN,
      field_5: levels.offset,
      field_6: 0,
    },
  })
  const headerSize = writer.offset - offset
  writer.appendBytes(levels.getBytes())
  writer.appendBytes(compressed)
  return {
    field_2: BigInt(offset),
    field_3: {
      field_1: ParquetTypes.indexOf(plain),
      field_2: [PLAIN, RLE],
      field_3: [column.name],
      field_4: SNAPPY,
      field_5: BigInt(values.length),
      field_6: BigInt(headerSize + size),
      field_7: BigInt(writer.offset - offset),
      field_9: BigInt(offset),
    },
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
 * names its content. `notes` are the file's key-value metadata. Values are plain, compressed by Snappy, a page a column.
 */
export function openParquet(
  columns: readonly ParquetColumn[],
  notes: Readonly<Record<string, string>> = {},
): OpenFile {
  const writer = new ByteWriter()
  writer.appendBytes(MAGIC)
  const groups: { field_1: ReturnType<typeof writeColumn>[]; field_2: bigint; field_3: bigint }[] =
    []
  return {
    writeGroup(rows) {
      if (rows.length > ROWS_PER_GROUP) throw new RangeError('A row group has too many rows.')
      if (rows.length === 0) return
      const chunks = columns.map((column, i) => {
        const values = rows.map((row) => row[i] ?? null)
        return writeColumn(writer, column, values)
      })
      groups.push({
        field_1: chunks,
        field_2: chunks.reduce((sum, chunk) => sum + chunk.field_3.field_6, 0n),
        field_3: BigInt(rows.length),
      })
    },
    finish() {
      const start = writer.offset
      serializeTCompactProtocol(writer, {
        field_1: 2,
        field_2: [
          { field_4: 'root', field_5: columns.length },
          ...columns.map(({ name, type }) => ({
            field_1: ParquetTypes.indexOf(STORED[type].plain),
            field_2: type === 'decimal' ? DECIMAL_BYTES : undefined,
            field_3: OPTIONAL,
            field_4: name,
            ...STORED[type].element,
          })),
        ],
        field_3: groups.reduce((sum, group) => sum + group.field_3, 0n),
        field_4: groups,
        field_5: Object.entries(notes).map(([key, value]) => ({ field_1: key, field_2: value })),
        field_6: 'tributary',
      })
      writer.appendUint32(writer.offset - start)
      writer.appendBytes(MAGIC)
      return new Uint8Array(writer.getBuffer())
    },
  }
}
