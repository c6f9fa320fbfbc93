import { foldCountry, isCountryCode } from './country.ts'
import type { JsonObject } from './record-validator.ts'
import { type Warning, warning } from './warnings.ts'

// What a record may contain although it is probably a mistake. Each function returns warnings whose
// pointers are relative to the record.

/** Records of earlier days are implausible (§16.30). */
const FIRST_PLAUSIBLE_DAY = '2000-01-01'

/** Records of times further ahead of their receipt than this are implausible, in milliseconds. */
const PLAUSIBLE_LEAD_MS = 36 * 3_600_000

/** Returns the last plausible instant of what is received at a time in milliseconds. */
export const lastPlausibleInstant = (receivedAt: number): string =>
  new Date(receivedAt + PLAUSIBLE_LEAD_MS).toISOString()

/**
 * Returns a warning if a day or an instant in UTC is implausible. `name` is the member, and `last` the
 * last plausible instant. As text, a day sorts before the instants of that day.
 */
export function timeWarnings(name: string, time: unknown, last: string): Warning[] {
  if (typeof time !== 'string') return []
  return time < FIRST_PLAUSIBLE_DAY || time > last
    ? [warning('implausible_time', `/${name}`, name)]
    : []
}

/** Returns a warning if an amount has another sign than records of a type should have. */
export function signWarnings(
  name: string,
  amount: unknown,
  expected: 'positive' | 'negative' | null,
  type: string,
): Warning[] {
  if (typeof amount !== 'number') return []
  const isWrong = expected === 'positive' ? amount < 0 : expected === 'negative' && amount > 0
  return isWrong ? [warning('negative_amount', `/${name}`, name, type)] : []
}

/** Returns a warning if an id has white space before or behind it. */
export const whitespaceWarnings = (name: string, id: unknown): Warning[] =>
  typeof id === 'string' && id !== id.trim() ? [warning('whitespace', `/${name}`, name)] : []

/** Returns a warning if a text is not the ISO 3166-1 alpha-2 code of a country. Does not quote it. */
export function countryWarnings(name: string, country: unknown): Warning[] {
  if (typeof country !== 'string' || isCountryCode(country)) return []
  return [warning('country', `/${name}`, name, foldCountry(country) ?? 'no country')]
}

/** Returns a warning if the amount of a record in USD cannot be that in its currency. */
export function usdWarnings({ amount_usd, amount_currency, currency }: JsonObject): Warning[] {
  if (typeof amount_usd !== 'number' || typeof amount_currency !== 'number') return []
  const differs = currency === 'USD' && amount_usd !== amount_currency
  return differs || Math.sign(amount_usd) !== Math.sign(amount_currency)
    ? [warning('amount_usd', '/amount_usd')]
    : []
}
