/** Long enough for any date, code or number. Longer values are truncated. */
const MAX_QUOTED = 40

/** Characters beyond JSON's own that move a cursor, set colors or reverse text. */
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const escapeCharacter = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Returns a value for a message, in backticks, with control characters escaped as in JSON. */
export function quote(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const short =
    text.length > MAX_QUOTED
      ? `${[...text.slice(0, 2 * MAX_QUOTED)].slice(0, MAX_QUOTED).join('')}…`
      : text
  const escaped = JSON.stringify(short).slice(1, -1).replaceAll('\\"', '"')
  return `\`${escaped.replace(UNPRINTABLE, escapeCharacter)}\``
}

/** Returns names for a message, each in backticks. */
export const quoteAll = (names: readonly string[]) => names.map(quote).join(', ')
