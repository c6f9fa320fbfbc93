import type { FxReason, RateLookup } from './convert.ts'
import { type Decimal, decimal, ONE } from './decimal.ts'

// The exchange rate that applies to a day (§11). Days are numbers of days since 1970-01-01.

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
  readonly rate: Decimal
  readonly day: number
}

/** Returns the rate of a currency that applies to a day, or why there is none. */
export type RateFinder = (currency: string, day: number) => ApplicableRate | FxReason

/** The number of days before a day whose rates may apply to it. */
export const MAX_RATE_AGE = 7

/** Returns the finder of loaded rates. The rate of the euro is always 1. */
export function rateFinder({ rates, lastDay }: LoadedRates): RateFinder {
  const byCurrency = new Map<string, Map<number, Decimal>>()
  for (const { currency, day, rate } of rates) {
    const days = byCurrency.get(currency) ?? new Map<number, Decimal>()
    byCurrency.set(currency, days.set(day, decimal(rate)))
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
 * Returns the finder of a closed period (§16.2): the rate that applied when the period was approved
 * stands; where none did, the rate that applies now.
 */
export const closedRateFinder =
  (atApproval: RateFinder, now: RateFinder): RateFinder =>
  (currency, day) => {
    const approved = atApproval(currency, day)
    return typeof approved === 'string' ? now(currency, day) : approved
  }

/** Returns the rates of a finder as the conversion reads them. */
export const rateLookup =
  (find: RateFinder): RateLookup =>
  (currency, day) => {
    const found = find(currency, day)
    return typeof found === 'string' ? found : found.rate
  }
