import {
  add,
  compare,
  type Decimal,
  decimal,
  multiply,
  ONE,
  PLACES,
  plainText,
  quotient,
  splitText,
  subtract,
  ZERO,
} from './decimal.ts'

/** An exact quotient, such as units divided by `each`. `den` is positive. */
export interface Ratio {
  readonly num: Decimal
  readonly den: Decimal
}

/** Builds a ratio; the divisor is 1 if it is left out. */
export const ratio = (num: Decimal, den: Decimal = ONE): Ratio => ({ num, den })
/** The ratio 0. */
export const NOTHING: Ratio = ratio(ZERO)

const sameDen = (a: Ratio, b: Ratio): boolean => compare(a.den, b.den) === 0

/** Adds two ratios exactly. */
export function addRatio(a: Ratio, b: Ratio): Ratio {
  if (sameDen(a, b)) return { num: add(a.num, b.num), den: a.den }
  return { num: add(multiply(a.num, b.den), multiply(b.num, a.den)), den: multiply(a.den, b.den) }
}

/** Subtracts two ratios exactly. */
export function subtractRatio(a: Ratio, b: Ratio): Ratio {
  if (sameDen(a, b)) return { num: subtract(a.num, b.num), den: a.den }
  return {
    num: subtract(multiply(a.num, b.den), multiply(b.num, a.den)),
    den: multiply(a.den, b.den),
  }
}

/** Multiplies a ratio with a decimal. */
export const multiplyRatio = (a: Ratio, factor: Decimal): Ratio => ({
  num: multiply(a.num, factor),
  den: a.den,
})

/** Adds ratios exactly. */
export const sumRatios = (values: Iterable<Ratio>): Ratio => {
  let total = NOTHING
  for (const value of values) total = addRatio(total, value)
  return total
}

/** Compares a ratio with a decimal. */
export const compareRatio = (a: Ratio, b: Decimal): number => compare(a.num, multiply(b, a.den))

/** Rounds once to a number of places, half to even. */
export const roundRatio = ({ num, den }: Ratio, places: number): Decimal =>
  quotient(num, den, places)

/** Writes a ratio with at most 12 places. */
export const ratioText = (value: Ratio): string => plainText(roundRatio(value, PLACES))

/** The places with which an amount is written before it is rounded. */
const EXACT_PLACES = 40

/** Writes a ratio with all its digits, or with 12 places if they do not end. */
export function exactly(value: Ratio): { text: string; isExact: boolean } {
  const written = roundRatio(value, EXACT_PLACES)
  const rest = subtractRatio(value, ratio(written)).num
  return rest.units === 0n
    ? { text: plainText(written), isExact: true }
    : { text: ratioText(value), isExact: false }
}

/** Writes a ratio exactly, to be read again by `parseRatio`. */
export const exactText = ({ num, den }: Ratio): string =>
  compare(den, ONE) === 0 ? plainText(num) : `${plainText(num)}/${plainText(den)}`

/** Reads what `exactText` wrote. */
export function parseRatio(text: string): Ratio {
  const [num, den] = splitText(text, '/')
  return ratio(decimal(num), den === '' ? ONE : decimal(den))
}
