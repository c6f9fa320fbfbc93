/** Returns the number of customers of some affiliates, and 1 for each affiliate. */
export const sizeOfGroup = (
  group: readonly string[],
  counts: ReadonlyMap<string, number>,
): number => group.reduce((sum, affiliate) => sum + (counts.get(affiliate) ?? 0) + 1, 0)

/** Returns the first affiliates that have at most so many customers together; at least one. */
export function firstGroup(
  affiliates: readonly string[],
  counts: ReadonlyMap<string, number>,
  most: number,
): readonly string[] {
  let size = 1
  let sum = sizeOfGroup(affiliates.slice(0, 1), counts)
  for (const affiliate of affiliates.slice(1)) {
    sum += sizeOfGroup([affiliate], counts)
    if (sum > most) break
    size++
  }
  return affiliates.slice(0, size)
}
