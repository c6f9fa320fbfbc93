/** D1 takes at most 2,000,000 bytes a value. */
const MAX_CHUNK_BYTES = 1_900_000

/** Returns the number of bytes of a text in UTF-8. */
export const byteLength = (text: string) => new TextEncoder().encode(text).length

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
