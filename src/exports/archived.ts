import { type ArchivedRow, type ArchiveReader, groupsOf, openPart } from '../archive/reader.ts'
import { readParts } from '../db/archive/months.ts'
import type { ArchivedResource } from '../db/archive/tables.ts'
import { boundsOf } from '../db/exports/record-rows.ts'
import { type Dataset, withTextPlaces } from './dataset.ts'

// The files of a month that was archived before its account was exported, or before the columns of the files
// changed, are written from the objects of the archive. They have the records in the order of an export.

/** A row group: the number of its object, and its own. */
type Place = readonly [part: number, group: number]

/** Decodes a row group of an object. */
type ReadGroup = Awaited<ReturnType<typeof openPart>>

/**
 * Returns the export of a resource whose pages are the row groups of an archived month. An object is read once for all
 * pages that follow each other.
 *
 * @param prefix Where the objects of the month are.
 */
export function archivedDataset(
  dataset: Dataset,
  reader: (db: D1Database) => ArchiveReader,
  prefix: string,
): Dataset {
  const resource = dataset.name as ArchivedResource
  let opened: { readonly part: number; readonly read: ReadGroup } | null = null
  const { page } = withTextPlaces<Place>({
    ...dataset,
    async page({ db, account, month }, after) {
      const { first: first_day } = boundsOf(month)
      const parts = await readParts(db, { account, resource, first_day })
      const [number, group] = after ?? [1, 0]
      const part = parts.find((one) => one.part === number)
      if (!part) return { rows: [] as ArchivedRow[], next: null }
      if (opened?.part !== number) {
        const place = { ...part, first_day, prefix, fault: null }
        opened = { part: number, read: await openPart(reader(db), resource, place) }
      }
      const rows = await opened.read(group)
      const isLast = group + 1 >= groupsOf(part).length
      const next: Place = isLast ? [number + 1, 0] : [number, group + 1]
      return { rows, next: isLast && number >= parts.length ? null : next }
    },
  })
  return { ...dataset, page }
}
