// The exchange rate that applies to a day (§11). Days are numbers of days since 1970-01-01.

/** An exact decimal: `units` divided by 10 to the power of `scale`. */
export interface ExactDecimal {
  readonly units: bigint
  readonly scale: number
}

/** A published rate: units of the currency for one euro, as decimal text. */
export interface PublishedRate {
  readonly currency: string
  readonly day: number
  readonly rate: string
}

/** The rates of some currencies and days, with the 7 days before these. */
export interface LoadedRates {
  readonly rates: readonly PublishedRate[]
  /** The last day for which the source has published any rate, of any currency; null if there is none. */
  readonly lastDay: number | null
}

/** The rate that applies, with the day it was published for. */
export interface ApplicableRate {
  readonly rate: ExactDecimal
  readonly day: number
}

/**
 * Why no rate applies.
 * - `fx_pending`: the source has published nothing for the day or a later one.
 * - `fx_missing`: it has, but the currency has no rate on the day or the 7 days before.
 */
export type MissingRate = 'fx_pending' | 'fx_missing'

/** Returns the rate of a currency that applies to a day, or why there is none. */
export type RateLookup = (currency: string, day: number) => ApplicableRate | MissingRate

/** The number of days before a day whose rates may apply to it. */
export const MAX_RATE_AGE = 7

const ONE: ExactDecimal = { units: 1n, scale: 0 }

/** Returns a decimal without sign, such as `1.1684`, exactly. */
export function parseRate(text: string): ExactDecimal {
  const [whole = '', fraction = ''] = text.split('.')
  return { units: BigInt(whole + fraction), scale: fraction.length }
}

/** Returns the look-up over loaded rates. The rate of the euro is always 1. */
export function rateLookup({ rates, lastDay }: LoadedRates): RateLookup {
  const byCurrency = new Map<string, Map<number, ExactDecimal>>()
  for (const { currency, day, rate } of rates) {
    const days = byCurrency.get(currency) ?? new Map<number, ExactDecimal>()
    byCurrency.set(currency, days.set(day, parseRate(rate)))
  }
  return (currency, day) => {
    if (currency === 'EUR') return { rate: ONE, day }
    // Even if an earlier rate is young enough: the rate of the day itself may still come.
    if (lastDay === null || lastDay < day) return 'fx_pending'
    const days = byCurrency.get(currency)
    for (let from = day; from >= day - MAX_RATE_AGE; from--) {
      const rate = days?.get(from)
      if (rate) return { rate, day: from }
    }
    return 'fx_missing'
  }
}

/**
 * Returns the look-up of a closed period (§16.2): the rate that applied when the period was approved
 * stands; where none did, the rate that applies now.
 */
export const closedRateLookup =
  (atApproval: RateLookup, now: RateLookup): RateLookup =>
  (currency, day) => {
    const approved = atApproval(currency, day)
    return typeof approved === 'string' ? now(currency, day) : approved
  }
