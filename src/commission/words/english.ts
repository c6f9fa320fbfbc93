import { minorDigits } from '../../platform/money/minor-digits.ts'

// Words and figures of explanations in plain English.

/** Writes a decimal with thousands separators; money with at least its minor digits. */
export function figure(text: string, digits = 0): string {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',')
  const decimals = fraction.padEnd(digits, '0')
  const sign = text.startsWith('-') ? '−' : ''
  return `${sign}${grouped}${decimals === '' ? '' : `.${decimals}`}`
}

/** Writes an amount with its currency: `1,000.00 EUR`. */
export const money = (text: string, currency: string): string =>
  `${figure(text, minorDigits(currency))} ${currency}`

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
