/**
 * An exact decimal: `units` × 10^-`scale`. Sums and products keep every digit; only `round` and
 * `quotient` round, half to even.
 */
export interface Decimal {
  readonly units: bigint
  readonly scale: number
}

/** The places to which a converted amount is rounded, and those of a fact's amount. */
export const PLACES = 12

/** The decimal 0. */
export const ZERO: Decimal = { units: 0n, scale: 0 }
/** The decimal 1. */
export const ONE: Decimal = { units: 1n, scale: 0 }

/** Returns the decimal of a whole number. */
export const integer = (value: number): Decimal => ({ units: BigInt(value), scale: 0 })

const POWERS = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent))

/** Returns 10^`exponent`. */
export function powerOfTen(exponent: number): bigint {
  return POWERS[exponent] ?? 10n ** BigInt(exponent)
}

/** Returns the decimal of a text such as `-0.20`. The plan's validation has accepted the text. */
export function decimal(text: string): Decimal {
  const [whole, fraction] = splitText(text, '.')
  return { units: BigInt(whole + fraction), scale: fraction.length }
}

/** Splits a text at the first `mark`; without it returns [text, '']. */
export function splitText(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** Returns the decimal of an integer of 10^-12, as facts hold their amounts. */
export const fromFact = (units: bigint): Decimal => ({ units, scale: PLACES })

/** Returns an integer of 10^-12 from the shortest decimal text of a double. */
export function factAmount(value: number): bigint {
  const cents = Math.round(value * 100)
  if (cents / 100 === value && Math.abs(cents) < 1e15) return BigInt(cents) * 10_000_000_000n
  const [digits, exponent] = splitText(String(value), 'e')
  const { units, scale } = decimal(digits)
  return unitsAt({ units, scale: scale - Number(exponent) }, PLACES)
}

/** Returns the units of a decimal at a scale that is at least its own. */
function unitsAt({ units, scale }: Decimal, target: number): bigint {
  return scale === target ? units : units * powerOfTen(target - scale)
}

/** Adds two decimals exactly. */
export function add(a: Decimal, b: Decimal): Decimal {
  if (a.scale === b.scale) return { units: a.units + b.units, scale: a.scale }
  const scale = Math.max(a.scale, b.scale)
  return { units: unitsAt(a, scale) + unitsAt(b, scale), scale }
}

/** Returns the opposite of a decimal. */
export const negate = ({ units, scale }: Decimal): Decimal => ({ units: -units, scale })

/** Subtracts two decimals exactly. */
export const subtract = (a: Decimal, b: Decimal): Decimal => add(a, negate(b))

/** Multiplies two decimals exactly. */
export const multiply = (a: Decimal, b: Decimal): Decimal => ({
  units: a.units * b.units,
  scale: a.scale + b.scale,
})

/** Returns a number below, at or above 0, as `a` is less than, equal to or greater than `b`. */
export function compare(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale)
  const [x, y] = [unitsAt(a, scale), unitsAt(b, scale)]
  return x === y ? 0 : x < y ? -1 : 1
}

/** Whether a decimal is 0. */
export const isZero = ({ units }: Decimal): boolean => units === 0n
/** Whether a decimal is below 0. */
export const isNegative = ({ units }: Decimal): boolean => units < 0n
/** Whether a decimal is above 0. */
export const isPositive = ({ units }: Decimal): boolean => units > 0n

/** Returns the smaller of two decimals. */
export const least = (a: Decimal, b: Decimal): Decimal => (compare(a, b) <= 0 ? a : b)
/** Returns the larger of two decimals. */
export const greatest = (a: Decimal, b: Decimal): Decimal => (compare(a, b) >= 0 ? a : b)

/** Adds decimals exactly. */
export const sum = (values: Iterable<Decimal>): Decimal => {
  let total = ZERO
  for (const value of values) total = add(total, value)
  return total
}

/** Divides integers and rounds half to even. The divisor is positive. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor
  const remainder = dividend - quotient * divisor
  if (remainder === 0n) return quotient
  const twice = remainder < 0n ? -2n * remainder : 2n * remainder
  if (twice < divisor || (twice === divisor && quotient % 2n === 0n)) return quotient
  return remainder < 0n ? quotient - 1n : quotient + 1n
}

/** Rounds to a number of decimal places, half to even. */
export function round(value: Decimal, places: number): Decimal {
  if (value.scale <= places) return { units: unitsAt(value, places), scale: places }
  return {
    units: divideHalfEven(value.units, powerOfTen(value.scale - places)),
    scale: places,
  }
}

/** Rounds down to a number of decimal places. */
export function floorTo(value: Decimal, places: number): Decimal {
  if (value.scale <= places) return value
  const divisor = powerOfTen(value.scale - places)
  const remainder = ((value.units % divisor) + divisor) % divisor
  return { units: (value.units - remainder) / divisor, scale: places }
}

/** Returns `a` ÷ `b`, rounded once to a number of places, half to even. `b` is positive. */
export function quotient(a: Decimal, b: Decimal, places: number): Decimal {
  const dividend = a.units * powerOfTen(places + b.scale)
  return { units: divideHalfEven(dividend, b.units * powerOfTen(a.scale)), scale: places }
}

/** Writes a decimal without trailing zeros, and never `-0`. */
export function plainText({ units, scale }: Decimal): string {
  const text = fixedText({ units, scale }, scale)
  return scale === 0 ? text : text.replace(/\.?0+$/, '')
}

/** Writes a decimal that has at most `places` places with exactly that many. */
export function fixedText(value: Decimal, places: number): string {
  const { units } = round(value, places)
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, '0')
  const sign = units < 0n ? '-' : ''
  if (places === 0) return sign + digits
  return `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`
}

/** Returns the amount of a key; 0 if there is none. */
export const amountAt = (amounts: ReadonlyMap<string, Decimal>, key: string): Decimal =>
  amounts.get(key) ?? ZERO

/** Returns whether a decimal text is not 0; null is 0. */
export const isSome = (amount: string | null): boolean =>
  amount !== null && !isZero(decimal(amount))
