import leven from 'leven'

/** Longer names are never compared: all valid names are shorter. */
const MAX_LENGTH = 40

/**
 * Returns the valid name closest to `name`, ignoring case, or null. Close means at most two edits,
 * and fewer edits than half of the valid name's length.
 */
export function suggest(name: string, validNames: readonly string[]): string | null {
  if (name.length > MAX_LENGTH) return null
  const candidates = validNames
    .map((valid) => ({ valid, distance: leven(name.toLowerCase(), valid.toLowerCase()) }))
    .filter(({ valid, distance }) => distance <= 2 && distance * 2 < valid.length)
    .sort((a, b) => a.distance - b.distance)
  return candidates[0]?.valid ?? null
}
