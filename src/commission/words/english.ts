import { ENGLISH } from './words.ts'

// Words and figures of explanations in plain English.

/** Writes an exact decimal: `1,234.5`. */
export const { figure } = ENGLISH

/** Writes an amount with its currency: `1,000.00 EUR`. */
export const { money } = ENGLISH

/** Returns a text with a capital at its beginning. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Writes a number of things: `1 record`, `12 records`. */
export const counted = (count: number, noun: string): string =>
  `${figure(String(count))} ${noun}${count === 1 ? '' : 's'}`

/** Joins a list: `a, b and c`. */
export const listed = ENGLISH.and
