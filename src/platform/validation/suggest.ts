import leven from 'leven'

/** Longer names are never compared: all valid names are shorter. */
const MAX_LENGTH = 40

/**
 * Returns the valid name closest to `name`, ignoring case, or null. Close means at most two edits, and
 * fewer edits than half of the valid name's length. Two swapped letters are one edit.
 */
export function suggest(name: string, validNames: readonly string[]): string | null {
  if (name.length > MAX_LENGTH) return null
  const [closest] = validNames
    .map((valid) => ({ valid, distance: edits(name.toLowerCase(), valid.toLowerCase()) }))
    .filter(({ valid, distance }) => distance <= 2 && distance * 2 < valid.length)
    .sort((a, b) => a.distance - b.distance)
  return closest?.valid ?? null
}

/** Returns the number of edits between two names. */
function edits(name: string, valid: string): number {
  const distance = leven(name, valid)
  return distance === 2 && swapsOf(valid).includes(name) ? 1 : distance
}

/** Returns the code with each pair of neighboring letters swapped. */
const swapsOf = (code: string) =>
  Array.from(code, (_, i) => code.slice(0, i) + swapFirst(code.slice(i)))

const swapFirst = (text: string) => text.slice(1, 2) + text.slice(0, 1) + text.slice(2)
