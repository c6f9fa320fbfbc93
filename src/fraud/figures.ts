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
} from '../commission/engine/decimal.ts'
import type { Figure } from './kind.ts'

// What rules compare, and the figures that show it. Comparisons are exact; figures in percent are rounded.

/** The places of percentages in figures. Comparisons are exact. */
const PERCENT_PLACES = 2

const HUNDRED = integer(100)

/** Returns whether a part is at least so many percent of a whole above 0. */
export const reachesPercent = (part: Decimal, whole: Decimal, percent: string): boolean =>
  compare(multiply(part, HUNDRED), multiply(whole, decimal(percent))) >= 0

/** Returns a figure of a part that reaches so many percent of a whole above 0, rounded to two places. */
export const percentFigure = (
  name: string,
  part: Decimal,
  whole: Decimal,
  percent: string,
): Figure => ({
  name,
  value: plainText(quotient(multiply(part, HUNDRED), whole, PERCENT_PLACES)),
  comparison: 'at_least',
  threshold: percent,
  unit: 'percent',
})

/** Returns a figure of a count that reaches its threshold. */
export const countFigure = (
  name: string,
  value: number,
  threshold: number,
  unit: string,
): Figure => ({
  ...{ name, value: String(value), comparison: 'at_least', threshold: String(threshold), unit },
})

/** Returns a figure that is more than its threshold. */
export const overFigure = (
  name: string,
  value: Decimal,
  threshold: Decimal,
  unit: string,
): Figure => ({
  ...{ name, value: plainText(value), comparison: 'more_than', threshold: plainText(threshold) },
  unit,
})

/** Returns a figure that is at least its threshold. */
export const reachedFigure = (
  name: string,
  value: Decimal,
  threshold: Decimal,
  unit: string,
): Figure => ({
  ...{ name, value: plainText(value), comparison: 'at_least', threshold: plainText(threshold) },
  unit,
})

/** The places of amounts that are divided to be shown. */
const AMOUNT_PLACES = 12

/** Returns a figure of a whole of which so many percent are less than an amount. */
export const wholeBelowFigure = (
  name: string,
  whole: Decimal,
  amount: Decimal,
  percent: Decimal,
  unit: string,
): Figure => ({
  ...{ name, value: plainText(whole), comparison: 'less_than' },
  threshold: plainText(quotient(multiply(amount, HUNDRED), percent, AMOUNT_PLACES)),
  unit,
})

/** Returns such a figure if a value is more than its threshold. */
export const exceeds = (
  name: string,
  value: Decimal,
  threshold: Decimal,
  unit: string,
): Figure[] => (compare(value, threshold) > 0 ? [overFigure(name, value, threshold, unit)] : [])

/** Returns how far a value is from 0. */
export const magnitude = (value: Decimal): Decimal => (isNegative(value) ? negate(value) : value)

/** Returns the median: the mean of the two in the middle of an even number of values; null of none. */
export function median(values: readonly Decimal[]): Decimal | null {
  const sorted = values.toSorted(compare)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return low && high ? multiply(add(low, high), decimal('0.5')) : null
}
