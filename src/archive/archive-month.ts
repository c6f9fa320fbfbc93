import {
  type ArchivedMonth,
  abandonMonth,
  beginMonth,
  dropRecords,
  forgetStep,
  keyOfRow,
  type Month,
  noteFault,
  putPart,
  readDayTotals,
  readMonth,
  readParts,
  readStoredRows,
  type StoredRow,
  sealMonth,
  startOf,
} from '../db/archive/months.ts'
import { ARCHIVED_TABLES } from '../db/archive/tables.ts'
import type { Connection } from '../db/database.ts'
import { DAY_MS } from '../durations.ts'
import { putObject } from '../parquet/bucket.ts'
import { areTotalsOfDays } from './control-totals.ts'
import {
  describeRows,
  encodeRows,
  knownObject,
  notedOf,
  OBJECT_LIMITS,
  verifyRows,
} from './object.ts'

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

/** What an archiving depends on beside its month. */
export interface ArchiveTask {
  readonly month: Month
  /** The form of the control totals of the resource. */
  readonly form: string
}

const monthText = (first_day: number) =>
  new Date(first_day * DAY_MS).toISOString().slice(0, 'YYYY-MM'.length)

/** Returns where the objects of a month are. */
const prefixOf = ({ account, resource, first_day }: Month, now: number): string =>
  `archive/${account}/${resource}/${monthText(first_day)}/${now}`

/**
 * Archives the next part of a month: begins, writes one object, seals the month, or deletes some of its records.
 * Every step may be repeated, also after a failure at any point of it.
 *
 * @returns whether another step follows. After the last one the month is archived, or, if it may not be archived
 * or has changed meanwhile, as it was before.
 */
export async function archiveStep(
  place: ArchivePlace,
  task: ArchiveTask,
  now: number,
): Promise<boolean> {
  const { db } = place
  const month = await readMonth(db, task.month)
  switch (month?.state) {
    case undefined:
      return beginMonth(db, task.month, {
        form: task.form,
        prefix: prefixOf(task.month, now),
        now,
      })
    case 'writing':
      await writeStep(place, month, task, now)
      return true
    case 'sealed':
      return !(await dropRecords(db, month, STEP_LIMITS.dropped))
    case 'ended':
      return !(await forgetStep(db, month))
    default:
      return false
  }
}

/** Writes the next object of a month; seals the month if it has all of them. */
async function writeStep(
  { db, bucket }: ArchivePlace,
  month: ArchivedMonth,
  { form }: ArchiveTask,
  now: number,
): Promise<void> {
  const { resource } = month
  const parts = await readParts(db, month)
  const rows = await readRowsOfPart(db, month, lastKeyOf(month, parts.at(-1)?.groups))
  if (rows.length === 0) {
    if (!areTotalsOfDays(parts, await readDayTotals(db, month, form))) {
      await noteFault(db, month, 'control totals')
      throw new Error('The objects of a month do not have the control totals of its days.')
    }
    const records = parts.reduce((sum, one) => sum + one.records, 0)
    if (!(await sealMonth(db, month, { records, form, now }))) await abandonMonth(db, month)
    return
  }
  const bytes = encodeRows(resource, rows)
  const described = await describeRows({ resource, form }, rows, bytes)
  const known = knownObject(month, described)
  await putObject(bucket, known, bytes)
  await verifyRows(bucket, resource, known, rows)
  const part = { ...described, part: parts.length + 1, written_at: now }
  await putPart(db, month, part, notedOf(month, rows))
}

type Key = ReturnType<typeof startOf>

/** Returns the last key of an object; the key before all records if there is none. */
export function lastKeyOf(month: Month, groups: string | undefined): Key {
  const list: readonly [number, Key, Key][] = JSON.parse(groups ?? '[]')
  return list.at(-1)?.[2] ?? startOf(month)
}

/** Reads the records of the next object. */
async function readRowsOfPart(db: Connection, month: Month, after: Key): Promise<StoredRow[]> {
  const rows: StoredRow[] = []
  const { columns } = ARCHIVED_TABLES[month.resource]
  let characters = 0
  let key = after
  while (rows.length < OBJECT_LIMITS.records && characters < OBJECT_LIMITS.characters) {
    const page = await readStoredRows(db, month, key, STEP_LIMITS.page)
    for (const row of page) {
      rows.push(row)
      for (const { name } of columns) characters += String(row[name] ?? '').length
    }
    const last = page.at(-1)
    if (last === undefined || page.length < STEP_LIMITS.page) break
    key = keyOfRow(month.resource, last)
  }
  return rows
}
