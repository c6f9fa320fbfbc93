import { type ColumnType, encode } from '../column-types.ts'
import type { RecordTable } from './record-table.ts'
import { FLAG, type RowFlag } from './sql-fragments.ts'

/** One record to store: its position in the request, and its values by column, as on the wire. */
export interface Row {
  idx: number
  values: Record<string, unknown>
  flag?: RowFlag
}

/** D1 takes at most 2,000,000 bytes a value. */
const MAX_CHUNK_BYTES = 1_900_000

/** Returns the number of bytes of a text in UTF-8. */
export const byteLength = (text: string) => new TextEncoder().encode(text).length

/**
 * Returns rows as chunks of JSON arrays of what the columns store, the position first. Arrays have
 * half the bytes of objects and are faster to read.
 */
export function toRowChunks(
  rows: readonly Row[],
  columns: readonly string[],
  encoded: RecordTable['encoded'],
): string[] {
  // The columns with an encoding, by their cells: most have none.
  const types = columns.flatMap((name, i) => {
    const type = encoded[name]
    return type ? [{ cell: i + 1, type }] : []
  })
  const toCells = ({ idx, values, flag }: Row) => {
    // Of a known length: to push a thousand cells one by one takes half as long again.
    const cells = new Array<unknown>(1 + columns.length)
    cells[0] = idx
    for (const [i, name] of columns.entries()) {
      cells[i + 1] = (name === FLAG ? flag : values[name]) ?? null
    }
    for (const { cell, type } of types) {
      const value = cells[cell]
      cells[cell] = flag === 'invalid' ? encodeUnchecked(type, value) : encode(type, value)
    }
    return cells
  }
  return toJsonChunks(rows.map(toCells))
}

/** Encodes a value that may have failed validation: text that is no day or time stays as it was sent. */
function encodeUnchecked(type: ColumnType, value: unknown) {
  if (typeof value !== 'string') return null
  const stored = encode(type, value)
  return Number.isNaN(stored) ? value : stored
}

/**
 * Returns rows as JSON arrays, each small enough for one parameter: one array unless there are too
 * many rows. Each is as full as possible, since D1 allows five terms in a compound SELECT; a body of
 * 8 MiB makes no more.
 */
export function toJsonChunks(rows: readonly unknown[][], maxBytes = MAX_CHUNK_BYTES): string[] {
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
function toSingleChunk(rows: readonly unknown[][], maxBytes: number): string | null {
  const whole = JSON.stringify(rows)
  // A character has at most three bytes: most texts need not be encoded to be measured.
  return whole.length * 3 <= maxBytes || byteLength(whole) <= maxBytes ? whole : null
}
