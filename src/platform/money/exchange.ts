import {
  type Decimal,
  decimal,
  divideHalfEven,
  fromFact,
  ONE,
  PLACES,
  powerOfTen,
  round,
} from './decimal.ts'

// The exchange rate that applies to a day (§11). Days are numbers of days since 1970-01-01.

/** The rates of a day: units of currencies for one euro, as decimal text. */
export interface PublishedRates {
  readonly day: number
  readonly rates: Readonly<Record<string, string>>
  /** When they became known and when others replaced them, in milliseconds; null: they apply now. */
  readonly known_from: number
  readonly known_until: number | null
}

/** The rates of some days, with the 7 days before these; also those that were replaced. */
export interface LoadedRates {
  readonly rows: readonly PublishedRates[]
  /** The last day for which the source has published any rate; null if there is none. */
  readonly lastDay: number | null
}

/** The rate that applies, with the day it was published for. */
interface ApplicableRate {
  readonly rate: Decimal
  readonly day: number
}

/** Returns the rate of a currency that applies to a day, or why there is none. */
export type RateFinder = (currency: string, day: number) => ApplicableRate | FxReason

/** The number of days before a day whose rates may apply to it. */
export const MAX_RATE_AGE = 7

/**
 * Returns the finder of loaded rates. The rate of the euro is always 1.
 *
 * @param at The time, in milliseconds, at which they were known; `lastDay` is that of this time.
 */
export function rateFinder({ rows, lastDay }: LoadedRates, at = Infinity): RateFinder {
  const known = rows.filter(
    ({ known_from, known_until }) => known_from <= at && (known_until === null || known_until > at),
  )
  const byDay = new Map(known.map(({ day, rates }) => [day, new Map(Object.entries(rates))]))
  return (currency, day) => {
    if (currency === 'EUR') return { rate: ONE, day }
    // Even if an earlier rate is young enough: the rate of the day itself may still come.
    if (lastDay === null || lastDay < day) return 'fx_pending'
    for (let from = day; from >= day - MAX_RATE_AGE; from--) {
      const rate = byDay.get(from)?.get(currency)
      if (rate !== undefined) return { rate: decimal(rate), day: from }
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

/** Why a currency has no rate on a day (§11). */
type FxReason = 'fx_pending' | 'fx_missing'

/** Returns the units of a currency for one euro that apply on a day, or why there are none. */
export type RateLookup = (currency: string, day: number) => Decimal | FxReason

/** Converts 10^-12 units of a currency into another, rounded once to 12 places. */
export function convertUnits(
  units: bigint,
  from: string,
  to: string,
  day: number,
  rates: RateLookup,
): bigint | FxReason {
  if (from === to) return units
  const factor = factorOf(from, to, day, rates)
  return typeof factor === 'string'
    ? factor
    : divideHalfEven(units * factor.multiplier, factor.divisor)
}

/** The factor between two currencies on a day: amounts are multiplied, then divided. */
interface Factor {
  readonly multiplier: bigint
  readonly divisor: bigint
}

type FactorOrReason = Factor | FxReason

/** The known factors of each lookup, by currencies and day: most facts share a few. */
const knownFactors = new WeakMap<RateLookup, Map<string, FactorOrReason>>()

function factorOf(from: string, to: string, day: number, rates: RateLookup): FactorOrReason {
  const known = knownFactors.get(rates) ?? new Map<string, FactorOrReason>()
  knownFactors.set(rates, known)
  const key = `${from} ${to} ${day}`
  const found = known.get(key) ?? findFactor(from, to, day, rates)
  known.set(key, found)
  return found
}

function findFactor(from: string, to: string, day: number, rates: RateLookup): FactorOrReason {
  const rateFrom = rates(from, day)
  const rateTo = rates(to, day)
  if (typeof rateFrom === 'string') return rateFrom
  if (typeof rateTo === 'string') return rateTo
  return {
    multiplier: rateTo.units * powerOfTen(rateFrom.scale),
    divisor: rateFrom.units * powerOfTen(rateTo.scale),
  }
}

/** Converts an amount on a day, rounded once to 12 places. */
export function convertAmount(
  amount: Decimal,
  from: string,
  to: string,
  day: number,
  rates: RateLookup,
): Decimal | FxReason {
  const converted = convertUnits(round(amount, PLACES).units, from, to, day, rates)
  return typeof converted === 'string' ? converted : fromFact(converted)
}
