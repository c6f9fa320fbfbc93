import type { Fact } from '../commission/engine/facts.ts'
import {
  add,
  compare,
  type Decimal,
  decimal,
  integer,
  isNegative,
  multiply,
  negate,
  plainText,
  quotient,
  sum,
} from '../platform/money/decimal.ts'
import type { Comparison, Figure, View } from './kind.ts'

// What rules compare, and the figures that show it. Comparisons are exact; figures in percent are rounded.

/** Returns the sum of an amount of records, in the currency of a view. It leaves out amounts without a rate. */
export const totalOf = (
  view: View,
  facts: readonly Fact[],
  fieldOf: (fact: Fact) => string = () => 'amount_currency',
): Decimal => sum(facts.flatMap((fact) => view.convert(fact, fieldOf(fact)) ?? []))

/** The places of percentages in figures. Comparisons are exact. */
const PERCENT_PLACES = 2

const HUNDRED = integer(100)

/** A decimal, or a count. */
type Amount = Decimal | number

const decimalOf = (amount: Amount): Decimal =>
  typeof amount === 'number' ? integer(amount) : amount

/** Returns whether a part is at least so many percent of a whole above 0. */
export const reachesPercent = (part: Amount, whole: Amount, percent: string): boolean =>
  compare(multiply(decimalOf(part), HUNDRED), multiply(decimalOf(whole), decimal(percent))) >= 0

/** Returns a figure of a part that reaches so many percent of a whole above 0, rounded to two places. */
export const percentFigure = (
  name: string,
  part: Amount,
  whole: Amount,
  percent: string,
): Figure => {
  const value = quotient(multiply(decimalOf(part), HUNDRED), decimalOf(whole), PERCENT_PLACES)
  return atLeast(name, value, percent, 'percent')
}

type Value = Amount | string

const textOf = (value: Value): string =>
  typeof value === 'object' ? plainText(value) : String(value)

const comparing =
  (comparison: Comparison) =>
  (name: string, value: Value, threshold: Value, unit: string, is?: string): Figure => ({
    name,
    value: textOf(value),
    comparison,
    threshold: textOf(threshold),
    ...(is && { threshold_is: is }),
    unit,
  })

/** Return a figure, and what it was compared with. */
export const atLeast = comparing('at_least')
/** Returns a figure that is more than its threshold. */
export const moreThan = comparing('more_than')
/** Returns a figure that is less than its threshold. */
export const lessThan = comparing('less_than')
/** Returns a figure that is at most its threshold. */
export const atMost = comparing('at_most')

/** Returns a figure if a value is more than its threshold. */
export const exceeds = (
  name: string,
  value: Decimal,
  threshold: Decimal,
  unit: string,
  is?: string,
): Figure[] => (compare(value, threshold) > 0 ? [moreThan(name, value, threshold, unit, is)] : [])

/** Returns how far a value is from 0. */
export const magnitude = (value: Decimal): Decimal => (isNegative(value) ? negate(value) : value)

/** Returns the median: the mean of the two in the middle of an even number of values; null of none. */
export function median(values: readonly Decimal[]): Decimal | null {
  const sorted = values.toSorted(compare)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return low && high ? multiply(add(low, high), decimal('0.5')) : null
}
