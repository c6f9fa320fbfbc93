/** Sorts after every character of a text that is stored. */
const AFTER_ALL = '\u{10ffff}'

/** Returns a text that sorts after every text that begins with `beginning`. */
export const endOfTexts = (beginning: string): string => beginning + AFTER_ALL

/** Compares two texts as the database orders them: by code point. */
export function compareStored(a: string, b: string): number {
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  return (a.codePointAt(i) ?? -1) - (b.codePointAt(i) ?? -1)
}
