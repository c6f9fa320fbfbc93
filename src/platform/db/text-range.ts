/** Sorts after every character of a text that is stored. */
const AFTER_ALL = '\u{10ffff}'

/** Returns a text that sorts after every text that begins with `beginning`. */
export const endOfTexts = (beginning: string): string => beginning + AFTER_ALL
