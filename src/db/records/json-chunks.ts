import type { ColumnType } from '../column-types.ts'
import type { RecordTable } from './record-table.ts'
import { FLAG, type RowFlag } from './sql-fragments.ts'

/** One record to store: its position in the request, and its values by column, as on the wire. */
export interface Row {
  idx: number
  values: Record<string, unknown>
  flag?: RowFlag
}

/**
 * Returns a flagged row for each record that was merged into another, with the values of that one: the
 * database finds of both the same.
 */
export function repeatedRows(rows: readonly Row[], repeats: ReadonlyMap<number, number>): Row[] {
  if (repeats.size === 0) return []
  const values = new Map(rows.map((row) => [row.idx, row.values]))
  return [...repeats].map(([idx, first]) => ({
    idx,
    values: values.get(first) ?? {},
    flag: 'repeated',
  }))
}

/** D1 takes at most 2,000,000 bytes a value. */
const MAX_CHUNK_BYTES = 1_900_000

/** Returns the number of bytes of a text in UTF-8. */
export const byteLength = (text: string) => new TextEncoder().encode(text).length

/**
 * Returns rows as chunks of JSON arrays of what the columns store, the position first. Arrays have
 * half the bytes of objects and are faster to read.
 */
export const toRowChunks = (
  rows: readonly Row[],
  columns: readonly string[],
  encoded: RecordTable['encoded'],
): string[] => toJsonChunks(rowCells(rows, columns, encoded))

/** Returns rows as arrays of what the columns store, the position first. */
export function rowCells(
  rows: readonly Row[],
  columns: readonly string[],
  encoded: RecordTable['encoded'],
): unknown[][] {
  const readers = columns.map((name) => ({ name, type: encoded[name] ?? null }))
  return rows.map(({ idx, values, flag }) => {
    // Of a known length: to push a thousand cells one by one takes half as long again.
    const cells = new Array<unknown>(1 + readers.length)
    cells[0] = idx
    // By index: `entries()` takes half as long again, and a bulk has ten thousand cells.
    for (let i = 0; i < readers.length; i++) {
      const { name, type } = readers[i]!
      const value = (name === FLAG ? flag : values[name]) ?? null
      cells[i + 1] = type === null || value === null ? value : encodeCell(type, value, flag)
    }
    return cells
  })
}

/** Encodes a value. Of an invalid record, text that is no day or time stays as it was sent. */
function encodeCell(type: ColumnType, value: unknown, flag: RowFlag | undefined) {
  if (flag !== 'invalid') return type.toStored(value)
  if (typeof value !== 'string') return null
  const stored = type.toStored(value)
  return Number.isNaN(stored) ? value : stored
}

/**
 * Returns rows, or single values, as JSON arrays, each small enough for one parameter: one array
 * unless there are too many. Each is as full as possible, since D1 allows five terms in a compound
 * SELECT; a body of 8 MiB makes no more.
 */
export function toJsonChunks(rows: readonly unknown[], maxBytes = MAX_CHUNK_BYTES): string[] {
  if (rows.length === 0) return []
  const whole = toSingleChunk(rows, maxBytes)
  if (whole !== null) return [whole]

  const chunks: string[] = []
  let texts: string[] = []
  let room = maxBytes - '[]'.length
  for (const row of rows) {
    const text = JSON.stringify(row)
    const bytes = byteLength(text) + ','.length
    if (bytes > room && texts.length > 0) {
      chunks.push(`[${texts.join()}]`)
      texts = []
      room = maxBytes - '[]'.length
    }
    texts.push(text)
    room -= bytes
  }
  return [...chunks, `[${texts.join()}]`]
}

/** Returns all rows as one chunk; null if that is too large. */
function toSingleChunk(rows: readonly unknown[], maxBytes: number): string | null {
  const whole = JSON.stringify(rows)
  // A character has at most three bytes: most texts need not be encoded to be measured.
  return whole.length * 3 <= maxBytes || byteLength(whole) <= maxBytes ? whole : null
}
