import { minorDigits } from '../../platform/money/minor-digits.ts'
import { decimalsOf } from './decimals.ts'

// Words and figures of explanations in plain English.

const decimal = decimalsOf('en-GB')

/** Writes an exact decimal: `1,234.5`. */
export const figure = (text: string): string => decimal(text, 0)

/** Writes an amount with its currency: `1,000.00 EUR`. */
export const money = (text: string, currency: string): string =>
  `${decimal(text, minorDigits(currency))} ${currency}`

/** Returns a text with a capital at its beginning. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Writes a number of things: `1 record`, `12 records`. */
export const counted = (count: number, noun: string): string =>
  `${figure(String(count))} ${noun}${count === 1 ? '' : 's'}`

/** Joins a list: `a, b and c`. */
export function listed(items: readonly string[]): string {
  if (items.length <= 1) return items.join('')
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}
