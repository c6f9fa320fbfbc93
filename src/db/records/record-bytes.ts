import { byteLength, type Row } from './json-chunks.ts'

/**
 * What a record takes beside its content: the account, the delivery, its position and the headers of
 * its row and its index entries, in pages that are two thirds full.
 */
const BYTES_PER_RECORD = 110

/** SQLite stores a row of more than about 1000 bytes on further pages, and an index entry, too. */
const LONG_RECORD_BYTES = 700
const BYTES_PER_LONG_RECORD = 8192

/**
 * Returns an upper bound of the bytes by which records enlarge the database, if all are new. `chunks`
 * are the parameters of their statements: the whole records, and the columns that indexes repeat.
 */
export function estimateRecordBytes(rows: readonly Row[], chunks: readonly string[]): number {
  const bytes = chunks.reduce((sum, chunk) => sum + byteLength(chunk), 0)
  const characters = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  // A character has at most three bytes. Most requests are ASCII.
  const longest = LONG_RECORD_BYTES / (bytes > characters ? 3 : 1)
  const longRecords = rows.filter((row) => countCharacters(row) > longest).length
  return 2 * bytes + BYTES_PER_RECORD * rows.length + BYTES_PER_LONG_RECORD * longRecords
}

function countCharacters({ values }: Row): number {
  let count = 0
  for (const name in values) {
    const value = values[name]
    if (typeof value === 'string') count += value.length
  }
  return count
}
