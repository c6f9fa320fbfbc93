/** Long enough for any date, code or number. Longer values are truncated. */
const MAX_QUOTED = 40

/** Characters that move a cursor, set colors or reverse text, and line breaks and tabs. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

const escapeCharacter = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Escapes control characters as in JSON: a terminal obeys escape sequences in what senders write. */
export const escapeText = (text: string) => text.replace(UNPRINTABLE, escapeCharacter)

/** Returns a value for a message, in backticks, with control characters escaped as in JSON. */
export function quote(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const truncated =
    text.length > MAX_QUOTED
      ? `${[...text.slice(0, 2 * MAX_QUOTED)].slice(0, MAX_QUOTED).join('')}…`
      : text
  const escaped = JSON.stringify(truncated).slice(1, -1).replaceAll('\\"', '"')
  return `\`${escapeText(escaped)}\``
}

/** Returns names for a message, each in backticks. */
export const quoteAll = (names: readonly string[]) => names.map(quote).join(', ')
