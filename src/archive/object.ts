import {
  type ArchivedMonth,
  type ArchivePart,
  keyOfRow,
  type Month,
  type PartRecords,
  type StoredRow,
} from '../db/archive/months.ts'
import { ARCHIVED_TABLES, type ArchivedResource, OBJECT_VERSION } from '../db/archive/tables.ts'
import { DamagedObject, digestOf, type KnownObject, readObject } from '../parquet/bucket.ts'
import { bytesSource, openParquet, type ParquetValue, readParquet } from '../parquet/file.ts'
import { totalsOfRows } from './control-totals.ts'

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
  { prefix }: Pick<ArchivedMonth, 'prefix'>,
  { bytes, sha256 }: Pick<ArchivePart, 'bytes' | 'sha256'>,
): KnownObject => ({ key: `${prefix}/${sha256}`, bytes, sha256 })

const cellsOf = (resource: ArchivedResource, row: StoredRow): ParquetValue[] =>
  ARCHIVED_TABLES[resource].columns.map(({ name }) => row[name] ?? null)

/** Returns the bytes of an object with these rows, which are in the order of their key. */
export function encodeRows(
  resource: ArchivedResource,
  rows: readonly StoredRow[],
): Uint8Array<ArrayBuffer> {
  const { columns } = ARCHIVED_TABLES[resource]
  const file = openParquet(columns, { resource, version: String(OBJECT_VERSION) })
  for (let i = 0; i < rows.length; i += OBJECT_LIMITS.group) {
    file.writeGroup(rows.slice(i, i + OBJECT_LIMITS.group).map((row) => cellsOf(resource, row)))
  }
  return file.finish()
}

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
  const bytes = await readObject(bucket, known)
  return readParquet(bytesSource(bytes), ARCHIVED_TABLES[resource].columns)
}

/** Whether two lists of rows have the same values, to the bit. */
export const areSame = (
  rows: readonly (readonly ParquetValue[])[],
  others: readonly (readonly ParquetValue[])[],
): boolean =>
  rows.length === others.length &&
  rows.every((row, i) => row.every((value, j) => Object.is(value, others[i]?.[j])))

/** Throws unless the rows of an object are these. */
export async function verifyRows(
  bucket: R2Bucket,
  resource: ArchivedResource,
  known: KnownObject,
  rows: readonly StoredRow[],
): Promise<void> {
  const found = await readRows(bucket, resource, known)
  const wanted = rows.map((row) => cellsOf(resource, row))
  if (!areSame(wanted, found)) throw new DamagedObject(known.key, 'digest')
}

/** Returns what the manifest says of an object. */
export async function describeRows(
  { resource, form }: { readonly resource: ArchivedResource; readonly form: string },
  rows: readonly StoredRow[],
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Omit<ArchivePart, 'part' | 'written_at'>> {
  const { dayColumn } = ARCHIVED_TABLES[resource]
  const days = Map.groupBy(rows, (row) => Number(row[dayColumn]))
  const deliveries = rows.map(({ delivery }) => String(delivery)).sort()
  const groups: unknown[] = []
  for (let i = 0; i < rows.length; i += OBJECT_LIMITS.group) {
    const group = rows.slice(i, i + OBJECT_LIMITS.group)
    const keys = [group[0], group.at(-1)].map((row) => row && keyOfRow(resource, row))
    groups.push([group.length, ...keys])
  }
  return {
    sha256: await digestOf(bytes),
    bytes: bytes.byteLength,
    version: OBJECT_VERSION,
    records: rows.length,
    days: JSON.stringify([...days].map(([day, records]) => [day, records.length])),
    groups: JSON.stringify(groups),
    deliveries: JSON.stringify([deliveries[0], deliveries.at(-1)]),
    totals: totalsOfRows(form, rows),
  }
}

/** Returns the last day of the deposits of a customer by status; undefined if there are none. */
function depositsOf(rows: readonly StoredRow[]): Record<string, number> | undefined {
  const deposits = rows.filter(({ transaction_type }) => transaction_type === 'deposit')
  if (deposits.length === 0) return undefined
  const byStatus = Map.groupBy(deposits, ({ status }) => String(status))
  return Object.fromEntries(
    [...byStatus].map(([status, own]) => [
      status,
      own.reduce((last, { day }) => Math.max(last, Number(day)), Number.NEGATIVE_INFINITY),
    ]),
  )
}

/** Returns what is noted of the records of an object of a month beside the manifest. */
export function notedOf({ resource, first_day }: Month, rows: readonly StoredRow[]): PartRecords {
  const { id, dayColumn } = ARCHIVED_TABLES[resource]
  const byCustomer = Map.groupBy(rows, ({ customer_id }) => String(customer_id))
  return {
    ids:
      id === null
        ? []
        : rows.map((row, i) => [String(row[id]), Math.floor(i / OBJECT_LIMITS.group)] as const),
    customers: [...byCustomer].map(([customer, own]) => {
      const days = Map.groupBy(own, (row) => Number(row[dayColumn]) - first_day)
      const records = Object.fromEntries([...days].map(([day, { length }]) => [day, length]))
      const deposits = depositsOf(own)
      return deposits ? [customer, records, deposits] : [customer, records]
    }),
  }
}
