import { findRecordParts, type RecordPart } from '../db/archive/record-parts.ts'
import { ARCHIVED_TABLES, type ArchivedResource } from '../db/archive/tables.ts'
import type { FindArchived } from '../db/records/list.ts'
import { unavailable } from '../errors.ts'
import {
  ArchiveChanged,
  type ArchivedRow,
  type ArchiveReader,
  compareKeys,
  groupsOf,
  type KeyValue,
  openPart,
  type RowGroup,
  readArchive,
} from './reader.ts'

/** Returns the function that reads the row of an archived record by its key. */
export const archivedFinder =
  (reader: ArchiveReader): FindArchived =>
  async (name, key) => {
    const resource = name as ArchivedResource
    // Most records that are not found are not archived: they wait for no turn.
    const parts = await findRecordParts(reader.db, reader.account, name, key)
    if (parts.length === 0) return null
    return readArchive(reader, async () => {
      const newest = await findRecordParts(reader.newest(), reader.account, name, key)
      // The month has come back: the next request finds the record in the database.
      if (newest.length === 0) throw unavailable(new ArchiveChanged(), 1)
      for (const part of newest) {
        const row = await findInPart(reader, resource, part, key as readonly KeyValue[])
        if (row) return row
      }
      return null
    })
  }

/** Finds a record in an object; reads the row group that has it. */
async function findInPart(
  reader: ArchiveReader,
  resource: ArchivedResource,
  { row_group, ...part }: RecordPart,
  key: readonly KeyValue[],
): Promise<ArchivedRow | null> {
  const { id, key: columns } = ARCHIVED_TABLES[resource]
  const names = key.length === 1 && id !== null ? [id] : columns
  const isWanted = (row: ArchivedRow) => names.every((name, i) => row[name] === key[i])
  const mayHave = (i: number, [, first, last]: RowGroup) =>
    row_group === null
      ? compareKeys(key, first) >= 0 && compareKeys(key, last) <= 0
      : i === row_group
  let read: Awaited<ReturnType<typeof openPart>> | null = null
  for (const [i, group] of groupsOf(part).entries()) {
    if (!mayHave(i, group)) continue
    read ??= await openPart(reader, resource, part)
    const row = (await read(i)).find(isWanted)
    if (row) return row
  }
  return null
}
