import { ARCHIVED_TABLES, type ArchivedResource } from '../../platform/db/archive-tables.ts'
import { monthText } from '../../platform/db/archived.ts'
import {
  DamagedObject,
  digestOf,
  type KnownObject,
  putObject,
  readObject,
} from '../../platform/parquet/bucket.ts'
import { openParquet, type ParquetValue, readParquet } from '../../platform/parquet/file.ts'
import { type ArchivePart, keyOfRow, type Month, type StoredRow } from './months.ts'

/** The limits of objects. */
export const OBJECT_LIMITS = {
  /** The records of an object. */
  records: 20_000,
  /** The characters of texts after which an object takes no further page of records. */
  characters: 8_000_000,
  /** The records of a row group. */
  group: 2000,
}

/** Returns the key, the size and the digest of an object. */
export const knownObject = (
  { account, first_day }: Pick<Month, 'account' | 'first_day'>,
  { bytes, sha256 }: Pick<ArchivePart, 'bytes' | 'sha256'>,
): KnownObject => ({ key: `archive/${account}/${monthText(first_day)}/${sha256}`, bytes, sha256 })

const cellsOf = (resource: ArchivedResource, row: StoredRow): ParquetValue[] =>
  ARCHIVED_TABLES[resource].columns.map(({ name }) => row[name] ?? null)

/**
 * Reads the rows of an object, each as the values of its columns.
 *
 * @throws DamagedObject if it is missing, or is not what was written.
 */
export async function readRows(
  bucket: R2Bucket,
  resource: ArchivedResource,
  known: KnownObject,
): Promise<ParquetValue[][]> {
  return readParquet(await readObject(bucket, known), ARCHIVED_TABLES[resource].columns)
}

/** Whether two lists of rows have the same values, to the bit. */
const areSame = (
  rows: readonly (readonly ParquetValue[])[],
  others: readonly (readonly ParquetValue[])[],
): boolean =>
  rows.length === others.length &&
  rows.every((row, i) => row.every((value, j) => Object.is(value, others[i]?.[j])))

/** Writes an object with these rows, which are in the order of their key, reads it back, and compares each value. */
export async function writeRows(
  bucket: R2Bucket,
  month: Month,
  rows: readonly StoredRow[],
): Promise<Omit<ArchivePart, 'part' | 'loaded'>> {
  const { resource } = month
  const cells = rows.map((row) => cellsOf(resource, row))
  const file = openParquet(ARCHIVED_TABLES[resource].columns, { resource })
  for (let i = 0; i < cells.length; i += OBJECT_LIMITS.group) {
    file.writeGroup(cells.slice(i, i + OBJECT_LIMITS.group))
  }
  const bytes = file.finish()
  const part = { sha256: await digestOf(bytes), bytes: bytes.byteLength }
  const known = knownObject(month, part)
  await putObject(bucket, known, bytes)
  if (!areSame(cells, await readRows(bucket, resource, known))) {
    throw new DamagedObject(known.key, 'digest')
  }
  const last = rows.at(-1)
  const last_key = JSON.stringify(last ? keyOfRow(resource, last) : [])
  return { ...part, records: rows.length, last_key }
}

/** Returns a row of an object under the names of its columns. */
export const toRow = (resource: ArchivedResource, cells: readonly ParquetValue[]): StoredRow =>
  Object.fromEntries(
    ARCHIVED_TABLES[resource].columns.map(({ name }, i) => [name, cells[i] ?? null]),
  ) as StoredRow
