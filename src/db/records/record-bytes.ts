import { byteLength, type Row } from './json-chunks.ts'

/**
 * What a record takes beside its content: the account, the delivery, its position and the headers of
 * its row and its index entries, in pages that are two thirds full.
 */
const BYTES_PER_RECORD = 110

/** SQLite stores a row of more than about 1000 bytes on further pages, and an index entry, too. */
const LONG_RECORD_BYTES = 700
const BYTES_PER_LONG_RECORD = 8192

/** What a column takes beside its text: a number, or the header of a cell. */
const BYTES_PER_COLUMN = 10

/** Upper bounds of the bytes by which records enlarge the database, if all are new. */
export interface RecordBytes {
  /** The bytes of all records together. */
  readonly all: number
  /** The bytes of each record. */
  readonly largest: number
}

/**
 * Returns upper bounds of the bytes by which records enlarge the database. `chunks` are the parameters
 * of their statements: the whole records, and the columns that indexes repeat.
 */
export function estimateRecordBytes(rows: readonly Row[], chunks: readonly string[]): RecordBytes {
  const bytes = chunks.reduce((sum, chunk) => sum + byteLength(chunk), 0)
  const characters = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  // A character has at most three bytes. Most requests are ASCII.
  const bytesPerCharacter = bytes > characters ? 3 : 1
  let longRecords = 0
  let largest = 0
  for (const row of rows) {
    // Indexes repeat some of the columns.
    const content = countCharacters(row) * bytesPerCharacter
    const isLong = content > LONG_RECORD_BYTES
    if (isLong) longRecords += 1
    const columns = BYTES_PER_COLUMN * Object.keys(row.values).length
    const own = 4 * content + 2 * columns + BYTES_PER_RECORD + (isLong ? BYTES_PER_LONG_RECORD : 0)
    largest = Math.max(largest, own)
  }
  const all = 2 * bytes + BYTES_PER_RECORD * rows.length + BYTES_PER_LONG_RECORD * longRecords
  return { all, largest }
}

function countCharacters({ values }: Row): number {
  let count = 0
  for (const name in values) {
    const value = values[name]
    if (typeof value === 'string') count += value.length
  }
  return count
}
