/** One record in the sender's own books. Its amounts are in hundredths, by name. */
export interface Entry {
  resource: string
  day: string
  /** The members that form a group in the control totals, with their values. */
  group: Record<string, unknown>
  sums: Record<string, bigint>
}

/** Converts a decimal text to hundredths. Returns null if it is not a decimal of two places. */
export function parseHundredths(text: string): bigint | null {
  const [, sign, whole, places = ''] = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(text) ?? []
  if (whole === undefined) return null
  const size = BigInt(whole + places.padEnd(2, '0'))
  return sign ? -size : size
}

/** Returns the control totals of the books as lines of text, which can be compared. */
export function linesOf(entries: Iterable<Entry>): string[] {
  const groups = new Map<string, { count: number; sums: Record<string, bigint> }>()
  for (const { resource, day, group, sums } of entries) {
    const name = nameOf({ resource, day, ...group })
    const known = groups.get(name) ?? { count: 0, sums: {} }
    known.count += 1
    for (const [sum, units] of Object.entries(sums)) {
      known.sums[sum] = (known.sums[sum] ?? 0n) + units
    }
    groups.set(name, known)
  }
  return [...groups].map(([name, { count, sums }]) => line(name, count, sums)).sort()
}

/** Returns the response of `GET totals` as lines of the same form. */
export const responseLines = (data: readonly Record<string, unknown>[]): string[] =>
  data
    .map(({ count, sums, ...group }) => {
      const units = Object.entries(sums as Record<string, string>).map(([name, text]) => [
        name,
        parseHundredths(text) ?? text,
      ])
      return line(nameOf(group), Number(count), Object.fromEntries(units))
    })
    .sort()

const nameOf = (group: object) =>
  JSON.stringify(Object.entries(group).sort(([a], [b]) => (a < b ? -1 : 1)))

const line = (name: string, count: number, sums: Record<string, unknown>) =>
  `${name}: ${count} records, ${Object.entries(sums)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([sum, units]) => `${sum} ${units}`)
    .join(', ')}`

/** Describes how two lists of lines differ. Returns an empty text if they are equal. */
export function difference(books: readonly string[], answered: readonly string[]): string {
  const missing = books.filter((one) => !answered.includes(one))
  const surplus = answered.filter((one) => !books.includes(one))
  if (missing.length + surplus.length === 0) return ''
  return `${missing.length} lines of the books are not answered, such as ${missing[0]}; ${surplus.length} answered are not in the books, such as ${surplus[0]}`
}
