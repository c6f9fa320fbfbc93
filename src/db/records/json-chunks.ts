import { FLAG, type RowFlag } from './sql-fragments.ts'

/** One record to store: its position in the request, and its values by column. */
export interface Row {
  idx: number
  values: Record<string, unknown>
  flag?: RowFlag
}

/** D1 takes at most 2,000,000 bytes a value; below it, there is room for what we add. */
const MAX_BYTES = 1_900_000

const bytesOf = (text: string) => new TextEncoder().encode(text).length

/** Rows as chunks of JSON arrays, their place first: half the bytes of objects, and quicker to read. */
export function toRowChunks(rows: readonly Row[], columns: readonly string[]) {
  const cellsOf = ({ idx, values, flag }: Row) => {
    const cells = new Array<unknown>(1 + columns.length)
    cells[0] = idx
    for (let i = 0; i < columns.length; i++) {
      const name = columns[i]!
      cells[i + 1] = (name === FLAG ? flag : values[name]) ?? null
    }
    return cells
  }
  return toJsonChunks(rows.map(cellsOf))
}

/**
 * The rows as JSON arrays that D1 takes as one parameter each: one, unless they are too many. Each
 * is as full as it can be, since a statement joins at most five (a compound SELECT of D1 has no
 * more terms): a body of 8 MiB makes no more.
 */
export function toJsonChunks(rows: readonly unknown[][], maxBytes = MAX_BYTES): string[] {
  if (rows.length === 0) return []
  const whole = toSingleChunk(rows, maxBytes)
  if (whole !== null) return [whole]

  const chunks: string[][] = []
  let room = 0
  for (const row of rows) {
    const text = JSON.stringify(row)
    const bytes = bytesOf(text) + ','.length
    if (bytes > room) {
      chunks.push([])
      room = maxBytes - '[]'.length
    }
    chunks.at(-1)!.push(text)
    room -= bytes
  }
  return chunks.map((texts) => `[${texts.join()}]`)
}

/** All rows as one, if they are not too many: of those that are, nothing is kept. */
function toSingleChunk(rows: readonly unknown[][], maxBytes: number): string | null {
  const whole = JSON.stringify(rows)
  // A character has at most three bytes: most texts need not be encoded to be measured.
  return whole.length * 3 <= maxBytes || bytesOf(whole) <= maxBytes ? whole : null
}
