import { type ArchivePart, clearFault, noteFault, readMonth } from '../db/archive/months.ts'
import { RecordsArchived } from '../db/archive/needed.ts'
import { ARCHIVED_TABLES, type ArchivedResource, OBJECT_VERSION } from '../db/archive/tables.ts'
import { dayText } from '../db/column-types.ts'
import type { Connection } from '../db/database.ts'
import { compareStored } from '../db/text-range.ts'
import { unavailable } from '../errors.ts'
import { DamagedObject, readObject } from '../parquet/bucket.ts'
import { bytesSource, type ParquetValue, readFooter, readGroup } from '../parquet/file.ts'
import { knownObject } from './object.ts'

/** Reads archived records of an account for a request. */
export interface ArchiveReader {
  /** The session of the request. */
  readonly db: D1DatabaseSession
  readonly account: string
  /** Returns a connection that sees the newest state. */
  readonly newest: () => Connection
  readonly bucket: () => R2Bucket
  /** Does work once there is memory for an object. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>
}

/** A month changed its state while a request read it: it must be read again. */
export class ArchiveChanged extends Error {
  override name = 'ArchiveChanged'
}

/** How often a request reads anew if months change meanwhile. */
const ATTEMPTS = 3

/** Reads from archived months. If one changes its state meanwhile, reads anew. */
export const readArchive = <T>(reader: ArchiveReader, read: () => Promise<T>): Promise<T> =>
  reader.inTurn(async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await read()
      } catch (error) {
        if (!(error instanceof ArchiveChanged)) throw error
        if (attempt === ATTEMPTS) throw unavailable(error)
      }
    }
  })

/** An object of an archived month. */
export interface ReadPart extends Pick<ArchivePart, 'sha256' | 'bytes' | 'version' | 'groups'> {
  readonly first_day: number
  readonly prefix: string
  readonly fault: string | null
}

/** A stored row of an object: values by column. */
export type ArchivedRow = Record<string, ParquetValue>

/** A value of a primary key. */
export type KeyValue = string | number

/** A row group: the number of its records, and its first and its last key. */
export type RowGroup = readonly [
  records: number,
  first: readonly KeyValue[],
  last: readonly KeyValue[],
]

/** Returns the row groups of an object. */
export const groupsOf = ({ groups }: Pick<ReadPart, 'groups'>): readonly RowGroup[] =>
  JSON.parse(groups)

/** Compares keys as the database orders them. A key that is the beginning of another equals it. */
export function compareKeys(a: readonly KeyValue[], b: readonly KeyValue[]): number {
  for (const [i, value] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 0
    const order =
      typeof value === 'number' || typeof other === 'number'
        ? Number(value) - Number(other)
        : compareStored(value, other)
    if (order !== 0) return order
  }
  return 0
}

/** The limits of reading an object for a request. */
const READ_LIMITS = {
  /** How long a request waits for an object, in milliseconds. */
  waitMs: 10_000,
}

/**
 * Reads a whole object and verifies its digest. Returns a function that decodes one of its row groups.
 *
 * @throws RecordsArchived if the object is missing or is not what was written: the fault is noted and logged.
 * @throws ArchiveChanged if its month is not archived any more.
 * @throws ApiError `unavailable` if R2 fails, or does not answer in time.
 */
export async function openPart(
  reader: ArchiveReader,
  resource: ArchivedResource,
  part: ReadPart,
): Promise<(group: number) => Promise<ArchivedRow[]>> {
  const known = knownObject(part, part)
  if (part.version !== OBJECT_VERSION)
    throw unavailable(new Error(`${known.key} has another version.`))
  const late = scheduler.wait(READ_LIMITS.waitMs).then(() => {
    throw unavailable(new Error('R2 does not answer.'))
  })
  try {
    const bytes = await Promise.race([readObject(reader.bucket(), known), late])
    const source = bytesSource(bytes)
    const footer = await readFooter(source)
    const { columns } = ARCHIVED_TABLES[resource]
    if (part.fault === known.key) await clearFault(reader.newest(), reader.account, known.key)
    return async (group) => {
      const rows = await readGroup(source, footer, columns, group)
      return rows.map((row) =>
        Object.fromEntries(columns.map(({ name }, i) => [name, row[i] ?? null])),
      )
    }
  } catch (error) {
    if (error instanceof DamagedObject) await refuseDamaged(reader, resource, part, error)
    throw error
  }
}

/** Notes and logs that an object is damaged, unless no month has it any more. */
async function refuseDamaged(
  { newest, account }: ArchiveReader,
  resource: ArchivedResource,
  { first_day, prefix }: ReadPart,
  { key: object }: DamagedObject,
): Promise<never> {
  const db = newest()
  const month = await readMonth(db, { account, resource, first_day })
  const isAway = month !== null && !['writing', 'ended'].includes(month.state)
  if (!isAway || month.prefix !== prefix) throw new ArchiveChanged()
  await noteFault(db, month, object)
  const text = dayText(first_day).slice(0, 'YYYY-MM'.length)
  console.error(
    JSON.stringify({ fault: 'damaged_archive', account, resource, month: text, object }),
  )
  throw new RecordsArchived(resource, [{ first_day, fault: object }])
}
