/** What moves a cursor, colours, or turns text around; a tab and a line break, too. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Text of others, made harmless: escape sequences in it would reach the terminal otherwise. */
export const plain = (text: string) => text.replace(UNPRINTABLE, escaped)

/** The same JSON, harmless on a terminal. */
export const plainJson = (value: unknown) => plain(JSON.stringify(value))
