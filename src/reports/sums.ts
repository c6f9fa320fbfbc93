import type { HoldReason } from '../commission/shapes/reasons.ts'
import { convertUnits, type RateLookup } from '../platform/money/exchange.ts'

/** What amounts of one currency and day come to, in 10^-12. */
interface DaySum {
  readonly currency: string | null
  /** The day of the exchange rate, in days since 1970-01-01; null if none is needed. */
  readonly day: number | null
  units: bigint
  /** Of records with an `amount_usd`: their amount in the currency, and in USD. */
  withUsd: bigint
  usd: bigint
}

/** A sum of amounts. */
export interface Amounts {
  /** The sums that are not converted yet, by currency and day. */
  readonly days: Map<string, DaySum>
  /** What was converted, in 10^-12, and what could not be, by currency and reason. */
  units: bigint
  readonly rest: Map<string, Rest>
}

/** The sums of a group of records by name. */
export interface Sums {
  readonly counts: Map<string, number>
  /** Decimals without a currency, in 10^-12. */
  readonly numbers: Map<string, bigint>
  readonly amounts: Map<string, Amounts>
}

/** Returns sums of no record. */
export const emptySums = (): Sums => ({
  counts: new Map(),
  numbers: new Map(),
  amounts: new Map(),
})

/** Adds to a count. */
export const addCount = ({ counts }: Sums, name: string, count: number): void => {
  counts.set(name, (counts.get(name) ?? 0) + count)
}

/** Adds 10^-12 units to a number without a currency. */
export const addNumber = ({ numbers }: Sums, name: string, units: bigint): void => {
  numbers.set(name, (numbers.get(name) ?? 0n) + units)
}

/** An amount to be added: `usd` is null if the records have no `amount_usd` that counts. */
export interface Added {
  readonly currency: string | null
  readonly day: number | null
  readonly units: bigint
  readonly usd: bigint | null
}

/** Adds an amount. */
export function addAmount({ amounts }: Sums, name: string, added: Added): void {
  const { currency, day, units, usd } = added
  let sums = amounts.get(name)
  if (sums === undefined) {
    sums = { days: new Map(), units: 0n, rest: new Map() }
    amounts.set(name, sums)
  }
  const key = `${currency} ${day}`
  let sum = sums.days.get(key)
  if (sum === undefined) {
    sum = { currency, day, units: 0n, withUsd: 0n, usd: 0n }
    sums.days.set(key, sum)
  }
  if (usd === null) sum.units += units
  else {
    sum.withUsd += units
    sum.usd += usd
  }
}

/** What could not be converted of a metric, in 10^-12. */
export interface Rest {
  readonly currency: string | null
  readonly reason: HoldReason
  readonly units: bigint
}

/**
 * Converts the sums that are not converted yet (§11). The sums of each currency and day convert together and are
 * rounded once to 12 places, so the result does not depend on how the records were grouped before, if all records of
 * the days have been added.
 */
export function convertDays({ amounts }: Sums, to: string, rates: RateLookup): void {
  for (const sums of amounts.values()) {
    for (const sum of sums.days.values()) {
      for (const part of convertDay(sum, to, rates)) {
        if (typeof part === 'bigint') {
          sums.units += part
          continue
        }
        const reason = `${part.currency} ${part.reason}`
        sums.rest.set(reason, { ...part, units: part.units + (sums.rest.get(reason)?.units ?? 0n) })
      }
    }
    sums.days.clear()
  }
}

/** Converts the sum of one currency and day: what is converted, and what cannot be. */
function* convertDay(sum: DaySum, to: string, rates: RateLookup): Generator<bigint | Rest> {
  const { currency, day, units, withUsd, usd } = sum
  if (currency === to) return yield units + withUsd
  if (currency === null) return yield* restOf(currency, 'no_currency', units + withUsd)
  const isUsd = to === 'USD'
  if (isUsd) yield usd
  // A sum without a day needs no rate.
  if (day === null) return
  const atRate = convertUnits(isUsd ? units : units + withUsd, currency, to, day, rates)
  if (typeof atRate === 'bigint') return yield atRate
  const fromUsd = isUsd ? 0n : convertUnits(usd, 'USD', to, day, rates)
  if (typeof fromUsd === 'bigint') yield fromUsd
  const left = typeof fromUsd === 'bigint' ? units : units + withUsd
  yield* restOf(currency, atRate, left)
}

/** A sum of 0 is 0 in every currency. */
function* restOf(currency: string | null, reason: HoldReason, units: bigint): Generator<Rest> {
  if (units !== 0n) yield { currency, reason, units }
}

/** Returns the days whose rates the sums need. */
export function neededDays({ amounts }: Sums, to: string): number[] {
  const all = [...amounts.values()].flatMap(({ days }) => [...days.values()])
  const converted = all.filter(({ currency }) => currency !== null && currency !== to)
  return [...new Set(converted.flatMap(({ day }) => day ?? []))]
}
