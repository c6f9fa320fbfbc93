import { ARCHIVED_TABLES, type ArchivedResource } from '../../platform/db/archive-tables.ts'
import { monthText } from '../../platform/db/archived.ts'
import {
  DamagedObject,
  digestOf,
  type KnownObject,
  putObject,
  readObject,
} from '../../platform/parquet/bucket.ts'
import { type ArchivePart, keyOfRow, type Month, type StoredRow } from './months.ts'

// Objects are compressed JSON: an array of the rows, each an array of the values of its columns.

/** The limits of objects. */
export const OBJECT_LIMITS = {
  /** The records of an object. */
  records: 20_000,
  /** The characters of texts after which an object takes no further page of records. */
  characters: 8_000_000,
}

/** Returns the key, the size and the digest of an object. */
export const knownObject = (
  { account, first_day }: Pick<Month, 'account' | 'first_day'>,
  { bytes, sha256 }: Pick<ArchivePart, 'bytes' | 'sha256'>,
): KnownObject => ({ key: `archive/${account}/${monthText(first_day)}/${sha256}`, bytes, sha256 })

/** A value as SQL stores it. */
type StoredValue = string | number | null

const cellsOf = (resource: ArchivedResource, row: StoredRow): StoredValue[] =>
  ARCHIVED_TABLES[resource].columns.map((name) => row[name] ?? null)

const through = async (stream: CompressionStream | DecompressionStream, body: BodyInit) =>
  new Response(new Response(body).body?.pipeThrough(stream))

/**
 * Reads the rows of an object, each as the values of its columns.
 *
 * @throws DamagedObject if it is missing, or is not what was written.
 */
export async function readRows(bucket: R2Bucket, known: KnownObject): Promise<StoredValue[][]> {
  const bytes = await readObject(bucket, known)
  return (await through(new DecompressionStream('gzip'), bytes)).json()
}

/** Writes an object with these rows, which are in the order of their key, reads it back, and compares it. */
export async function writeRows(
  bucket: R2Bucket,
  month: Month,
  rows: readonly StoredRow[],
): Promise<Omit<ArchivePart, 'part' | 'loaded'>> {
  const { resource } = month
  const json = JSON.stringify(rows.map((row) => cellsOf(resource, row)))
  const packed = await through(new CompressionStream('gzip'), json)
  const bytes = new Uint8Array(await packed.arrayBuffer())
  const part = { sha256: await digestOf(bytes), bytes: bytes.byteLength }
  const known = knownObject(month, part)
  await putObject(bucket, known, bytes)
  if (JSON.stringify(await readRows(bucket, known)) !== json) {
    throw new DamagedObject(known.key, 'digest')
  }
  const last = rows.at(-1)
  const last_key = JSON.stringify(last ? keyOfRow(resource, last) : [])
  return { ...part, records: rows.length, last_key }
}

/** Returns a row of an object under the names of its columns. */
export const toRow = (resource: ArchivedResource, cells: readonly StoredValue[]): StoredRow =>
  Object.fromEntries(
    ARCHIVED_TABLES[resource].columns.map((name, i) => [name, cells[i] ?? null]),
  ) as StoredRow
