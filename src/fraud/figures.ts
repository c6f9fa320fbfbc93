import { dayText } from '../commission/engine/calendar.ts'
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
  ZERO,
} from '../commission/engine/decimal.ts'
import { amountOf, compareText, type Fact } from '../commission/engine/facts.ts'
import type { Figure, FigurePart, LeftOut, View, WithoutRate } from './kind.ts'

// What rules compare, and the figures that show it. Comparisons are exact; figures in percent are rounded.

/** A sum of amounts in the currency of a view. */
export interface Total {
  readonly sum: Decimal
  readonly leftOut: WithoutRate
}

/** Returns the sum of an amount of records, in the currency of a view. */
export function totalOf(
  view: View,
  facts: readonly Fact[],
  fieldOf: (fact: Fact) => string = () => 'amount_currency',
): Total {
  const leftOut: LeftOut['currency'][] = []
  let total = ZERO
  for (const fact of facts) {
    const converted = view.convert(fact, fieldOf(fact))
    if (converted) total = add(total, converted)
    else if (amountOf(fact, fieldOf(fact)) !== 0n) leftOut.push(fact.currency)
  }
  return { sum: total, leftOut }
}

/** Returns a number of which a figure is made. `days` are those of records that are not among the evidence. */
export const partOf = (
  name: string,
  value: Decimal,
  unit: string,
  days?: { readonly first: number; readonly last: number },
): FigurePart => ({
  ...{ name, value: plainText(value), unit },
  ...(days && { from: dayText(days.first), to: dayText(days.last) }),
})

/** Returns a figure with the numbers of which it is made, and the amounts that it leaves out. */
export function withParts(
  figure: Figure,
  made_of: readonly FigurePart[],
  leftOut: WithoutRate = [],
): Figure {
  const left_out = [...Map.groupBy(leftOut, (currency) => currency)]
    .map(([currency, own]): LeftOut => ({ currency, amounts: own.length }))
    .sort((a, b) => compareText(a.currency ?? '', b.currency ?? ''))
  return {
    ...figure,
    ...(made_of.length > 0 && { made_of }),
    ...(left_out.length > 0 && { left_out }),
  }
}

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

/** Returns a figure that is at most its threshold. */
export const atMostFigure = (
  name: string,
  value: Decimal,
  threshold: string,
  unit: string,
): Figure => ({ name, value: plainText(value), comparison: 'at_most', threshold, unit })

/** Returns a figure that is less than its threshold. */
export const underFigure = (
  name: string,
  value: Decimal,
  threshold: Decimal,
  unit: string,
): Figure => ({
  ...{ name, value: plainText(value), comparison: 'less_than', threshold: plainText(threshold) },
  unit,
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
