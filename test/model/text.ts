/** Returns the same text for equal values, whatever the order of their members. */
export const text = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    member && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )

/** Sorts a list whose order has no meaning. */
export const anyOrder = (list: readonly unknown[]) => list.map(text).sort()
