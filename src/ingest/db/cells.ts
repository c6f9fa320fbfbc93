import { encode } from '../../platform/db/column-types.ts'
import type { Cells, Item, Values } from './item.ts'
import type { RecordTable } from './record-table.ts'

/** Returns what the columns of a table store: as a JSON array it has half the bytes of an object. */
export function toCells(table: RecordTable, index: number, values: Values): Cells {
  const cells: [number, ...unknown[]] = [index]
  for (const { name, column } of table.cells) cells.push(encode(column, values[name] ?? null))
  return cells
}

/** Returns what a column of a record stores. */
export const cellOf = (table: RecordTable, { cells }: Pick<Item, 'cells'>, name: string) =>
  cells?.[1 + table.cells.findIndex((cell) => cell.name === name)] ?? null

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
export function estimateBytes(cells: readonly unknown[]): number {
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
