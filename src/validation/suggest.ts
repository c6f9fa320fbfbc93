import leven from 'leven'

/** Longer names are never compared: all valid names are shorter. */
const MAX_LENGTH = 40

/**
 * Returns the valid name closest to `name`, ignoring case, or null. Close means at most two edits,
 * and fewer edits than half of the valid name's length. If no name is close, the first part of a name
 * counts: `amont` suggests `amount_currency`.
 */
export function suggest(name: string, validNames: readonly string[]): string | null {
  if (name.length > MAX_LENGTH) return null
  return closest(name, validNames, (valid) => valid) ?? closest(name, validNames, firstPart)
}

const firstPart = (valid: string) => valid.replace(/_.*/s, '')

function closest(
  name: string,
  validNames: readonly string[],
  comparedPart: (valid: string) => string,
): string | null {
  const candidates = validNames
    .map((valid) => ({ valid, part: comparedPart(valid) }))
    .map(({ valid, part }) => ({
      valid,
      part,
      distance: leven(name.toLowerCase(), part.toLowerCase()),
    }))
    .filter(({ part, distance }) => distance <= 2 && distance * 2 < part.length)
    .sort((a, b) => a.distance - b.distance)
  return candidates[0]?.valid ?? null
}
