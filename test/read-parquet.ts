import { parquetMetadata, parquetRead } from 'hyparquet'
import {
  DECIMAL_PLACES,
  decimalText,
  type ParquetColumn,
  type ParquetValue,
} from '../src/parquet/file.ts'

/** Returns a value as it was written. */
function fromRead({ type }: ParquetColumn, value: unknown): ParquetValue {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array) {
    let units = 0n
    for (const byte of value) units = (units << 8n) | BigInt(byte)
    return decimalText(BigInt.asIntN(8 * value.length, units))
  }
  if (typeof value !== 'bigint') return value as ParquetValue
  return type === 'integer' && !Number.isSafeInteger(Number(value)) ? value : Number(value)
}

/** Reads the rows of a file of the exports, in the order of `columns`, and what it says of itself. */
export async function readParquet(
  { buffer, byteLength }: Uint8Array<ArrayBuffer>,
  columns: readonly ParquetColumn[],
) {
  const metadata = parquetMetadata(buffer)
  const found = Promise.withResolvers<Record<string, unknown>[]>()
  await parquetRead({
    file: { byteLength, slice: (start, end) => buffer.slice(start, end) },
    // The reader would return decimals as doubles. Without their type it returns their bytes.
    metadata: {
      ...metadata,
      schema: metadata.schema.map(({ converted_type, logical_type, ...plain }) =>
        plain.scale === DECIMAL_PLACES
          ? plain
          : {
              ...plain,
              ...(converted_type && { converted_type }),
              ...(logical_type && { logical_type }),
            },
      ),
    },
    rowFormat: 'object',
    parsers: { dateFromDays: (days) => days, timestampFromMilliseconds: (time) => time },
    onComplete: found.resolve,
  })
  return {
    rows: (await found.promise).map((row) => columns.map((one) => fromRead(one, row[one.name]))),
    columns: metadata.schema.slice(1).map(({ name }) => name),
    groups: metadata.row_groups.map(({ num_rows }) => Number(num_rows)),
    notes: Object.fromEntries(
      (metadata.key_value_metadata ?? []).map(({ key, value = '' }) => [key, value]),
    ),
  }
}
