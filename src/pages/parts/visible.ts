// Characters of data that a reader cannot see, as pages show them.

/**
 * Invisible characters, such as those that change the direction of text, and spaces that look like an
 * ordinary space. With them, an id could look like another id. Emoji keep the joiners that they need.
 */
const INVISIBLE = /\p{RGI_Emoji}|(?![ \t\n\r])[\p{DI}\p{Z}\p{Cc}]/gv
const IS_INVISIBLE = /^[\p{DI}\p{Z}\p{Cc}]$/v

const nameOf = (character: string) =>
  `‹U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}›`

/** Returns a text of data in which each invisible character is replaced by its name, such as `‹U+202E›`. */
export const visible = (text: string): string =>
  text.replace(INVISIBLE, (found) => (IS_INVISIBLE.test(found) ? nameOf(found) : found))
