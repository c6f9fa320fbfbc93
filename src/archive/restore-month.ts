import {
  type ArchivedMonth,
  type ArchivePart,
  beginRestore,
  endRestore,
  forgetStep,
  insertRows,
  keyOfRow,
  type Month,
  noteFault,
  noteRestored,
  readMonth,
  readNextPart,
  readParts,
  readStoredRows,
} from '../db/archive/months.ts'
import { ARCHIVED_TABLES, type ArchivedResource, OBJECT_VERSION } from '../db/archive/tables.ts'
import { toJsonChunks } from '../db/json-chunks.ts'
import { required } from '../db/statement.ts'
import { DamagedObject } from '../parquet/bucket.ts'
import type { ParquetValue } from '../parquet/file.ts'
import { type ArchivePlace, lastKeyOf, STEP_LIMITS } from './archive-month.ts'
import { haveTotals } from './control-totals.ts'
import { areSame, knownObject, readRows } from './object.ts'

/**
 * Restores the next part of a month: begins, writes the records of one object, or ends. Every step may be
 * repeated, also after a failure at any point of it.
 *
 * @returns whether another step follows. After the last one the records are back, and nothing of the archive is left.
 * @throws DamagedObject if an object is missing or is not what was written. It is noted as the fault of the month,
 * which stays archived.
 */
export async function restoreStep(place: ArchivePlace, wanted: Month): Promise<boolean> {
  const { db } = place
  const month = await readMonth(db, wanted)
  switch (month?.state) {
    case 'sealed':
    case 'archived':
      return beginRestore(db, month)
    case 'restoring':
      await writeBack(place, month)
      return true
    case 'ended':
      return !(await forgetStep(db, month))
    default:
      return false
  }
}

/** Writes the records of the next object; ends the restoration if all are back. */
async function writeBack(place: ArchivePlace, month: ArchivedMonth): Promise<void> {
  const part = await readNextPart(place.db, month)
  try {
    if (part) await writePart(place, month, part)
    else if (!(await endRestore(place.db, month))) throw new Error('Restored records are missing.')
  } catch (error) {
    if (error instanceof DamagedObject) await noteFault(place.db, month, error.key)
    throw error
  }
}

async function writePart(
  { db, bucket }: ArchivePlace,
  month: ArchivedMonth,
  part: ArchivePart,
): Promise<void> {
  const { resource } = month
  const known = knownObject(month, part)
  if (part.version !== OBJECT_VERSION) throw new Error(`${known.key} has another version.`)
  const rows = await readRows(bucket, resource, known)
  if (!haveTotals(byColumn(resource, rows), part.totals))
    throw new DamagedObject(known.key, 'totals')
  for (const chunk of toJsonChunks(rows)) await insertRows(db, month, chunk)
  const parts = await readParts(db, month)
  const after = lastKeyOf(month, parts.find((one) => one.part === part.part - 1)?.groups)
  if (!(await areStored(db, month, rows, after))) {
    throw new Error(`${known.key} was not restored whole.`)
  }
  await noteRestored(db, month, part.part)
}

/** Returns rows of an object under the names of their columns. */
const byColumn = (resource: ArchivedResource, rows: readonly (readonly ParquetValue[])[]) => {
  const names = ARCHIVED_TABLES[resource].columns.map(({ name }) => name)
  return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? null])))
}

/** Whether the database has these rows of a month behind a key, and no others between them. */
async function areStored(
  db: ArchivePlace['db'],
  month: Month,
  rows: readonly (readonly ParquetValue[])[],
  after: readonly (string | number)[],
): Promise<boolean> {
  const { columns } = ARCHIVED_TABLES[month.resource]
  let key = after
  for (let i = 0; i < rows.length; i += STEP_LIMITS.page) {
    const page = rows.slice(i, i + STEP_LIMITS.page)
    const found = await readStoredRows(db, month, key, page.length)
    const stored = found.map((row) => columns.map(({ name }) => row[name] ?? null))
    if (!areSame(page, stored)) return false
    key = keyOfRow(month.resource, required(found.at(-1), 'row'))
  }
  return true
}
