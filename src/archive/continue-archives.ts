import { type DueMonth, dueMonths } from '../db/archive/due.ts'
import { deleteRetired, retiredArchives } from '../db/archive/retired.ts'
import type { ArchivedResource } from '../db/archive/tables.ts'
import { deleteObjects, listKeys } from '../parquet/bucket.ts'
import type { ArchivePlace } from './archive-month.ts'
import { archiveStep } from './archive-month.ts'
import { restoreStep } from './restore-month.ts'

/**
 * Deletes the objects of retired archives that are due, those of at most `limit` months. Returns whether none is
 * left.
 */
async function deleteRetiredObjects(
  { db, bucket }: ArchivePlace,
  now: number,
  limit: number,
): Promise<boolean> {
  const due = await retiredArchives(db, now, limit)
  for (const retired of due) {
    await deleteObjects(bucket, await listKeys(bucket, `${retired.prefix}/`))
    await deleteRetired(db, retired)
  }
  return due.length < limit
}

/** The months that one call goes on with, and the months whose objects it deletes. */
const LIMITS = { months: 20, retired: 10 }

/** What goes on with archives of a database. */
export interface ContinuedArchives {
  /** Returns the form of the control totals of a resource; null if the account is gone. */
  readonly formOf: (account: string, resource: ArchivedResource) => Promise<string | null>
  /** Called with each failure: it holds up no other month. */
  readonly onFailure: (month: DueMonth, error: unknown) => void | Promise<void>
  /** In milliseconds. */
  readonly deadline: number
  readonly now: number
}

/**
 * Goes on with the months of a database that leave or come back, those first whose records are needed, and deletes
 * objects that no month needs. Returns whether nothing is left but what failed.
 */
export async function continueArchives(
  place: ArchivePlace,
  { formOf, onFailure, deadline, now }: ContinuedArchives,
): Promise<boolean> {
  const due = await dueMonths(place.db, LIMITS.months)
  let isDone = due.length < LIMITS.months
  for (const month of due) {
    try {
      if (!(await finishMonth(place, month, { formOf, deadline, now }))) isDone = false
    } catch (error) {
      await onFailure(month, error)
    }
  }
  return (await deleteRetiredObjects(place, now, LIMITS.retired)) && isDone
}

/** Makes the steps of a month until it rests, or until the deadline. Returns whether it rests. */
async function finishMonth(
  place: ArchivePlace,
  month: DueMonth,
  { formOf, deadline, now }: Pick<ContinuedArchives, 'formOf' | 'deadline' | 'now'>,
): Promise<boolean> {
  const form = month.comes_back ? null : await formOf(month.account, month.resource)
  if (!month.comes_back && form === null) return true
  while (Date.now() <= deadline) {
    const goesOn =
      form === null
        ? await restoreStep(place, month)
        : await archiveStep(place, { month, form }, now)
    if (!goesOn) return true
  }
  return false
}
