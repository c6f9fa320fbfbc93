/** Characters that move the cursor, set colours or reverse text, and line breaks and tabs. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

const escapeCharacter = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Escapes control characters: partners choose names, and a terminal obeys escape sequences. */
export const escapeText = (text: string) => text.replace(UNPRINTABLE, escapeCharacter)

/** Formats a value as JSON that is safe to print on a terminal. */
export const safeJson = (value: unknown) => escapeText(JSON.stringify(value))
