import { encode } from '../../platform/db/column-types.ts'
import type { RecordTable } from './record-table.ts'

/** One record to store: its position in the request, and its values by column, as on the wire. */
export interface Row {
  idx: number
  values: Record<string, unknown>
}

/** The cells of a record: its position, and what its columns store. */
export type Cells = readonly [idx: number, ...cells: unknown[]]

/** Returns rows as arrays of what the columns store: as JSON they have half the bytes of objects. */
export function toCells(
  rows: readonly Row[],
  columns: readonly string[],
  encoded: RecordTable['encoded'],
): Cells[] {
  const types = columns.map((name) => encoded[name])
  return rows.map(({ idx, values }) => [
    idx,
    ...columns.map((name, i) => encode(types[i], values[name] ?? null)),
  ])
}

/**
 * What a record takes beside its content: the account, the delivery, its position and the headers of
 * its row and its index entries, in pages that are two thirds full.
 */
const BYTES_PER_RECORD = 90

/** SQLite stores a row of more than about 1000 bytes on further pages, and an index entry, too. */
const LONG_RECORD_BYTES = 700
const BYTES_PER_LONG_RECORD = 4096

/** What a column takes beside its text: a number, or the header of a cell. */
const BYTES_PER_COLUMN = 8

/** A character has at most three bytes. Most texts are ASCII. */
const bytesOf = (text: string) => text.length * (/^[\0-\x7f]*$/.test(text) ? 1 : 3)

/** Returns about how many bytes a new record adds to the database, rather more than less; indexes repeat some columns. */
export function estimateBytes(cells: Cells): number {
  const content = cells.reduce<number>(
    (sum, cell) => sum + (typeof cell === 'string' ? bytesOf(cell) : 0),
    0,
  )
  const isLong = content > LONG_RECORD_BYTES
  return (
    3 * content +
    BYTES_PER_COLUMN * cells.length +
    BYTES_PER_RECORD +
    (isLong ? BYTES_PER_LONG_RECORD : 0)
  )
}
