import type { World } from '../world.ts'
import { addDays } from './calendar.ts'
import type { Fact } from './facts.ts'
import { divide, multiply, ONE, parse, type Rational, round } from './rational.ts'

export type NoRate = 'no_currency' | 'fx_pending' | 'fx_missing'

/** The order in which §10 lists the reasons. */
export const NO_RATES: NoRate[] = ['no_currency', 'fx_pending', 'fx_missing']

/** How an amount is converted: not at all, from the fact's own `amount_usd`, or by rates. */
export type Conversion =
  | { by: 'none' | 'usd'; value: Rational }
  | { by: 'rates'; from: Rational; to: Rational }
  | { by: 'nothing'; reason: NoRate }

export interface Rates {
  /** Returns the rate that applies to a currency on a day, or null. */
  rate: (currency: string, day: string) => Rational | null
  /** Returns why a day has no rate. */
  reason: (day: string) => NoRate
}

export function readRates(world: World): Rates {
  const last = world.rates.reduce((day, one) => (one.day > day ? one.day : day), '')
  const known = new Map<string, Rational | null>()
  const find = (currency: string, day: string): Rational | null => {
    if (day > last) return null
    const oldest = addDays(day, -7)
    const found = world.rates
      .filter((one) => one.currency === currency && one.day <= day && one.day >= oldest)
      .sort((a, b) => (a.day < b.day ? -1 : 1))
      .at(-1)
    return found ? parse(found.rate) : null
  }
  return {
    rate(currency, day) {
      if (currency === 'EUR') return ONE
      const key = `${currency} ${day}`
      if (!known.has(key)) known.set(key, find(currency, day))
      return known.get(key)!
    },
    reason: (day) => (day > last ? 'fx_pending' : 'fx_missing'),
  }
}

/** Converts an amount that belongs to no fact, such as a sum of lines, and rounds it to 12 places. */
export function convertAmount(
  rates: Rates,
  amount: Rational,
  from: string,
  to: string,
  day: string,
): Rational | NoRate {
  if (from === to) return amount
  const a = rates.rate(from, day)
  const b = rates.rate(to, day)
  return a && b ? applyRates(amount, a, b) : rates.reason(day)
}

/** Converts by units for one euro: exactly, then rounded once to 12 places. */
export const applyRates = (amount: Rational, from: Rational, to: Rational) =>
  round(divide(multiply(amount, to), from), 12)

/** Returns the currency of a number of a fact, or null. */
export const currencyOf = (fact: Fact, field: string): string | null =>
  field === 'volume_usd' ? 'USD' : (fact.currency ?? null)

/** Returns how a number of a fact is converted into a currency (§11). */
export function conversion(rates: Rates, fact: Fact, field: string, to: string): Conversion {
  const from = currencyOf(fact, field)
  if (from === null) return { by: 'nothing', reason: 'no_currency' }
  if (from === to) return { by: 'none', value: fact.numbers.get(field)! }
  const usd = field === 'amount_currency' ? fact.amountUsd : undefined
  if (usd && to === 'USD') return { by: 'usd', value: round(usd, 12) }
  const a = rates.rate(from, fact.day)
  const b = rates.rate(to, fact.day)
  if (a && b) return { by: 'rates', from: a, to: b }
  const dollar = rates.rate('USD', fact.day)
  if (usd && dollar && b) return { by: 'usd', value: applyRates(usd, dollar, b) }
  return { by: 'nothing', reason: rates.reason(fact.day) }
}

/** Converts one number of a fact, alone. */
export function convert(rates: Rates, fact: Fact, field: string, to: string): Rational | NoRate {
  const how = conversion(rates, fact, field, to)
  if (how.by === 'nothing') return how.reason
  if (how.by === 'rates') return applyRates(fact.numbers.get(field)!, how.from, how.to)
  return how.value
}
