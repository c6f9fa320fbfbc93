import { ARCHIVED_TABLES } from '../../platform/db/archive-tables.ts'
import type { Connection } from '../../platform/db/database.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import type { Step } from '../../platform/db/steps.ts'
import { deleteAll, deleteObjects } from '../../platform/parquet/bucket.ts'
import {
  type ArchivedMonth,
  type ArchivePart,
  dropRecords,
  endLoad,
  insertRows,
  type KeyValue,
  keyOfRow,
  listArchivedMonths,
  nextMonthToErase,
  noteErased,
  noteLoaded,
  putPart,
  readMonth,
  readParts,
  readStoredRows,
  replacePart,
  type StoredRow,
  startOf,
} from './months.ts'
import { knownObject, OBJECT_LIMITS, readRows, toRow, writeRows } from './object.ts'

/** The limits of a step. */
export const STEP_LIMITS = {
  /** The records that one query reads. */
  page: 2000,
  /** The records that one query deletes. */
  dropped: 5000,
}

/** Where the records of an account are, and where its objects are. */
export interface ArchivePlace {
  readonly db: Connection
  readonly bucket: R2Bucket
}

/**
 * Returns the step of a month that leaves or comes back: it writes one object, deletes records that are in objects,
 * or loads one object. Every step may be repeated, also after a failure at any point of it. It throws `DamagedObject`
 * if an object is missing or is not what was written.
 */
export const archiveStep =
  (place: ArchivePlace, account: string, first_day: number): Step =>
  async () => {
    const month = await readMonth(place.db, account, first_day)
    if (month?.state === 'leaving') return leaveStep(place, month)
    return month?.state === 'loading' ? loadStep(place, month) : true
  }

const lastKeyOf = (month: ArchivedMonth, part: ArchivePart | undefined): KeyValue[] =>
  part ? JSON.parse(part.last_key) : startOf(month)

async function leaveStep({ db, bucket }: ArchivePlace, month: ArchivedMonth): Promise<boolean> {
  const parts = await readParts(db, month)
  const written = parts.reduce((sum, { records }) => sum + records, 0)
  if (written >= month.records) {
    return dropRecords(db, month, { rows: STEP_LIMITS.dropped, now: Date.now() })
  }
  const rows = await readRowsOfPart(db, month, lastKeyOf(month, parts.at(-1)))
  if (rows.length === 0) throw new Error('Records of a month that leaves are missing.')
  const part = await writeRows(bucket, month, rows)
  const customers = [...new Set(rows.map(({ customer_id }) => String(customer_id)))]
  await putPart(db, month, { ...part, part: parts.length + 1 }, customers)
  return false
}

/** Reads the records of the next object. */
async function readRowsOfPart(
  db: Connection,
  month: ArchivedMonth,
  after: readonly KeyValue[],
): Promise<StoredRow[]> {
  const rows: StoredRow[] = []
  const { columns } = ARCHIVED_TABLES[month.resource]
  let characters = 0
  let key = after
  while (rows.length < OBJECT_LIMITS.records && characters < OBJECT_LIMITS.characters) {
    const page = await readStoredRows(db, month, key, STEP_LIMITS.page)
    for (const row of page) {
      rows.push(row)
      for (const name of columns) characters += String(row[name] ?? '').length
    }
    const last = page.at(-1)
    if (last === undefined || page.length < STEP_LIMITS.page) break
    key = keyOfRow(month.resource, last)
  }
  return rows
}

/** Loads the next object; after the last one compares the number of records, and ends the loading. */
async function loadStep({ db, bucket }: ArchivePlace, month: ArchivedMonth): Promise<boolean> {
  const parts = await readParts(db, month)
  const part = parts.find(({ loaded }) => loaded === 0)
  if (part === undefined) {
    if (!(await endLoad(db, month))) throw new Error('Records of a loaded month are missing.')
    await deleteObjects(
      bucket,
      parts.map((one) => knownObject(month, one).key),
    )
    return true
  }
  const rows = await readRows(bucket, knownObject(month, part))
  for (const chunk of toJsonChunks(rows)) await insertRows(db, month, chunk)
  await noteLoaded(db, month, part.part)
  return false
}

/**
 * Rewrites the objects of the next archived month that have records of an erased customer, without loading them.
 *
 * @param customer_id As stored.
 * @param change Returns the rows as they are to be.
 * @throws DamagedObject if an object is missing or is not what was written.
 */
export async function eraseInMonth(
  db: Connection,
  bucketOf: () => R2Bucket,
  { account, customer_id }: { readonly account: string; readonly customer_id: string },
  change: (rows: readonly StoredRow[]) => Promise<StoredRow[]>,
): Promise<void> {
  const month = await nextMonthToErase(db, account, customer_id)
  if (month === null) return
  const bucket = bucketOf()
  for (const part of await readParts(db, month)) {
    const known = knownObject(month, part)
    const cells = await readRows(bucket, known)
    const rows = cells.map((one) => toRow(month.resource, one))
    const isOwn = (row: StoredRow) => row.customer_id === customer_id
    const changed = (await change(rows.filter(isOwn))).values()
    const all = rows.map((row) => (isOwn(row) ? (changed.next().value ?? row) : row))
    const { sha256, bytes } = await writeRows(bucket, month, all)
    if (sha256 === part.sha256) continue
    await replacePart(db, month, { part: part.part, sha256, bytes })
    await deleteObjects(bucket, [known.key])
  }
  await noteErased(db, month, customer_id)
}

/** Deletes all objects of an account's archive; a reset deletes what its database has of them. */
export async function deleteArchive(
  bucketOf: () => R2Bucket,
  db: D1Database,
  account: string,
): Promise<void> {
  const { data } = await listArchivedMonths(db, account, { number: 1, size: 1, after: null })
  if (data.length > 0) await deleteAll(bucketOf(), `archive/${account}/`)
}
