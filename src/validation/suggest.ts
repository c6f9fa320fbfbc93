import leven from 'leven'

/** What is longer is no misspelling of ours. */
const MAX_LENGTH = 40

/** What was probably meant: at most two letters off, and less than half of the word. */
export function suggest(sent: string, names: readonly string[]): string | null {
  if (sent.length > MAX_LENGTH) return null
  const ranked = names
    .map((name) => ({ name, distance: leven(sent.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= 2 && distance * 2 < name.length)
    .sort((a, b) => a.distance - b.distance)
  return ranked[0]?.name ?? null
}
