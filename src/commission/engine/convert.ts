import { type Decimal, divideHalfEven, fromFact, PLACES, powerOfTen, round } from './decimal.ts'
import { amountOf, type Fact } from './facts.ts'
import type { HoldReason } from './reasons.ts'

/** Why a currency has no rate on a day (§11). */
export type FxReason = 'fx_pending' | 'fx_missing'

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
type ByDay = Map<number, FactorOrReason>
type Factors = Map<string, Map<string, ByDay>>

/**
 * The known factors of each lookup, by source currency, target currency and day: most facts share a
 * few.
 */
const knownFactors = new WeakMap<RateLookup, Factors>()

const newMap = <K, V>(): Map<K, V> => new Map()

/** Returns the value of a key, which is created if it is missing. */
function entryOf<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  create: () => V,
): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}

function factorOf(from: string, to: string, day: number, rates: RateLookup): FactorOrReason {
  const byCurrency = entryOf<RateLookup, Factors>(knownFactors, rates, newMap)
  const byDay = entryOf(
    entryOf(byCurrency, from, newMap<string, ByDay>),
    to,
    newMap<number, FactorOrReason>,
  )
  return byDay.get(day) ?? entryOf(byDay, day, () => findFactor(from, to, day, rates))
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
  return asDecimal(convertUnits(round(amount, PLACES).units, from, to, day, rates))
}

const asDecimal = (converted: bigint | FxReason): Decimal | FxReason =>
  typeof converted === 'string' ? converted : fromFact(converted)

/** The way in which an amount of a fact is converted. */
export type Conversion =
  /** With the other amounts of its currency and day. */
  | { readonly by: 'rate'; readonly from: string }
  /** Alone, since it is converted through its `amount_usd`. */
  | { readonly by: 'usd'; readonly from: string; readonly converted: bigint }
  | { readonly by: 'none'; readonly reason: HoldReason }

/**
 * Decides how a fact's amount of a field is converted to a currency: the first way that applies
 * (§11).
 */
export function conversionOf(
  fact: Fact,
  field: string,
  currency: string | null,
  to: string,
  rates: RateLookup,
): Conversion {
  if (currency === null) return { by: 'none', reason: 'no_currency' }
  if (currency === to) return { by: 'rate', from: currency }
  const usd = field === 'amount_currency' ? fact.amounts.get('amount_usd') : undefined
  if (usd !== undefined && to === 'USD') {
    return { by: 'usd', from: currency, converted: usd }
  }
  const factor = factorOf(currency, to, fact.day, rates)
  if (typeof factor !== 'string') return { by: 'rate', from: currency }
  const reason = factor
  if (usd === undefined) return { by: 'none', reason }
  const converted = convertUnits(usd, 'USD', to, fact.day, rates)
  if (typeof converted === 'string') return { by: 'none', reason }
  return { by: 'usd', from: currency, converted }
}

/** Converts one fact's amount alone, as triggers and qualifications do (§16.16). */
export function convertFact(
  fact: Fact,
  field: string,
  currency: string | null,
  to: string,
  rates: RateLookup,
): Decimal | HoldReason {
  const conversion = conversionOf(fact, field, currency, to, rates)
  if (conversion.by === 'none') return conversion.reason
  if (conversion.by === 'usd') return fromFact(conversion.converted)
  return asDecimal(convertUnits(amountOf(fact, field), conversion.from, to, fact.day, rates))
}
