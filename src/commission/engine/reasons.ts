import { minorDigits } from '../minor-digits.ts'

/**
 * The reasons why a fact earns nothing, in the order of §10. If several apply to a fact under one rule,
 * the first counts. If several rules name the fact, the one that is last in this list counts.
 */
export const REASONS = [
  'held',
  'implausible_time',
  'organic',
  'unknown_affiliate',
  'refused',
  'no_plan',
  'pending',
  'unmapped',
  'declined',
  'reversed',
  'no_rule',
  'excluded',
  'expired',
  'no_currency',
  'fx_pending',
  'fx_missing',
  'already_counted',
  'not_qualified',
] as const

/** Why a fact earns nothing. */
export type Reason = (typeof REASONS)[number]

/** Reasons of facts that wait for data: they are listed as holds and stop an approval. */
export type HoldReason = 'no_currency' | 'fx_pending' | 'fx_missing'

/** The verdict on a fact: `counted`, or the reason why not. */
export type Verdict = 'counted' | Reason

const RANK = new Map<Verdict, number>(REASONS.map((reason, index) => [reason, index]))

/** Returns the position of a verdict in `REASONS`; `counted` comes after all reasons. */
export const rankOf = (verdict: Verdict): number => RANK.get(verdict) ?? REASONS.length

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
