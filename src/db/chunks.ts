/** D1 takes at most 2,000,000 bytes a value; below it, there is room for what we add. */
const MAX_BYTES = 1_900_000

/** UTF-8 bytes of a text, never fewer; most texts are short enough not to be encoded. */
const bytesOf = (text: string, enough: number) =>
  text.length * 3 <= enough ? text.length * 3 : new TextEncoder().encode(text).length

/** The rows as JSON arrays that D1 takes as one parameter each: one, unless they are too many. */
export function chunk(rows: readonly unknown[][], maxBytes = MAX_BYTES): string[] {
  if (rows.length === 0) return []
  const whole = JSON.stringify(rows)
  if (bytesOf(whole, maxBytes) <= maxBytes) return [whole]
  if (rows.length === 1) throw new RangeError('One row is larger than a parameter may be.')
  const half = Math.ceil(rows.length / 2)
  return [...chunk(rows.slice(0, half), maxBytes), ...chunk(rows.slice(half), maxBytes)]
}
