import { parquetMetadata, parquetRead } from 'hyparquet'
import { fromFact, plainText } from '../../src/platform/money/decimal.ts'
import type { ColumnType, ParquetColumn, ParquetValue } from '../../src/platform/parquet/file.ts'

/** Returns a value as the reader gives it, in the form in which it was written. */
function fromRead(type: ColumnType, value: unknown): ParquetValue {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array) {
    let units = 0n
    for (const byte of value) units = (units << 8n) | BigInt(byte)
    return plainText(fromFact(BigInt.asIntN(8 * value.length, units)))
  }
  if (typeof value === 'bigint') {
    const number = Number(value)
    return type === 'integer' && !Number.isSafeInteger(number) ? value : number
  }
  return value as ParquetValue
}

/**
 * Reads all rows of a file that `openParquet` wrote, each as the values of these columns.
 *
 * @throws Error if it is not a Parquet file.
 */
export async function readParquet(
  { buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>,
  columns: readonly ParquetColumn[],
): Promise<ParquetValue[][]> {
  const file = buffer.slice(byteOffset, byteOffset + byteLength)
  const { schema, ...metadata } = parquetMetadata(file)
  // The reader would return decimals as doubles. Without their type it returns their bytes.
  const plain = schema.map((element) => {
    const { converted_type, logical_type, ...plain } = element
    return converted_type === 'DECIMAL' ? plain : element
  })
  const found = Promise.withResolvers<Record<string, unknown>[]>()
  await parquetRead({
    file,
    metadata: { ...metadata, schema: plain },
    rowFormat: 'object',
    parsers: { dateFromDays: (days) => days, timestampFromMilliseconds: (time) => time },
    onComplete: found.resolve,
  })
  const rows = await found.promise
  return rows.map((row) => columns.map(({ name, type }) => fromRead(type, row[name])))
}
