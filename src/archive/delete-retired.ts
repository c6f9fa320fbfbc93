import { deleteRetired, retiredArchives } from '../db/archive/retired.ts'
import { deleteObjects, listKeys } from '../parquet/bucket.ts'
import type { ArchivePlace } from './archive-month.ts'

/**
 * Deletes the objects of retired archives that are due, those of at most `limit` months. Returns whether none is
 * left.
 */
export async function deleteRetiredObjects(
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
