/** Long enough for any date, code or number. Longer values are truncated. */
const MAX_QUOTED = 40

/** Returns a value for a message, in backticks, with control characters escaped as in JSON. */
export function quote(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const short =
    text.length > MAX_QUOTED
      ? `${[...text.slice(0, 2 * MAX_QUOTED)].slice(0, MAX_QUOTED).join('')}…`
      : text
  return `\`${JSON.stringify(short).slice(1, -1).replaceAll('\\"', '"')}\``
}

/** Returns names for a message, each in backticks. */
export const quoteAll = (names: readonly string[]) => names.map(quote).join(', ')
