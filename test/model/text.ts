/** The same text for what is equal, whatever the order of members. */
export const text = (value: unknown): string =>
  JSON.stringify(value, (_, member) =>
    member && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )

/** A list whose order says nothing. */
export const anyOrder = (list: readonly unknown[]) => list.map(text).sort()
