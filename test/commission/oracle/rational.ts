/** An exact number: numerator and denominator. The denominator is positive, usually a power of ten. */
export interface Rational {
  n: bigint
  d: bigint
}

export const ZERO: Rational = { n: 0n, d: 1n }
export const ONE: Rational = { n: 1n, d: 1n }
export const HUNDRED: Rational = { n: 100n, d: 1n }

const digitsOf = (places: number) => 10n ** BigInt(places)

/** Reads a decimal, such as `-12.50` or the `1e-7` of a small number. */
export function parse(text: string | number): Rational {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(String(text).trim())
  if (!match) throw new Error(`not a decimal: ${text}`)
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const n = BigInt(whole + fraction) * (sign ? -1n : 1n)
  const places = fraction.length - Number(exponent)
  return places >= 0 ? { n, d: digitsOf(places) } : { n: n * digitsOf(-places), d: 1n }
}

export const count = (value: number): Rational => ({ n: BigInt(value), d: 1n })

export function add(a: Rational, b: Rational): Rational {
  if (a.d === b.d) return { n: a.n + b.n, d: a.d }
  if (a.d % b.d === 0n) return { n: a.n + b.n * (a.d / b.d), d: a.d }
  if (b.d % a.d === 0n) return { n: a.n * (b.d / a.d) + b.n, d: b.d }
  return { n: a.n * b.d + b.n * a.d, d: a.d * b.d }
}

export const negate = (a: Rational): Rational => ({ n: -a.n, d: a.d })
export const subtract = (a: Rational, b: Rational) => add(a, negate(b))
export const multiply = (a: Rational, b: Rational): Rational => ({ n: a.n * b.n, d: a.d * b.d })

export function divide(a: Rational, b: Rational): Rational {
  if (b.n === 0n) throw new Error('division by zero')
  return b.n < 0n ? { n: -a.n * b.d, d: a.d * -b.n } : { n: a.n * b.d, d: a.d * b.n }
}

/** Returns a negative number, 0 or a positive number. */
export function compare(a: Rational, b: Rational): number {
  const difference = a.n * b.d - b.n * a.d
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

export const isZero = (a: Rational) => a.n === 0n
export const isNegative = (a: Rational) => a.n < 0n
export const isPositive = (a: Rational) => a.n > 0n
export const least = (a: Rational, b: Rational) => (compare(a, b) <= 0 ? a : b)
export const greatest = (a: Rational, b: Rational) => (compare(a, b) >= 0 ? a : b)
export const sum = (all: Rational[]) => all.reduce(add, ZERO)

/** Rounds half to even. */
export function round(a: Rational, places: number): Rational {
  const scale = digitsOf(places)
  const scaled = a.n * scale
  let quotient = scaled / a.d
  let rest = scaled % a.d
  if (rest < 0n) {
    quotient -= 1n
    rest += a.d
  }
  const twice = rest * 2n
  if (twice > a.d || (twice === a.d && quotient % 2n !== 0n)) quotient += 1n
  return { n: quotient, d: scale }
}

/** Writes a number with a fixed number of decimals. It must have no more than that. */
export function fixed(a: Rational, places: number): string {
  const { n } = round(a, places)
  if (compare({ n, d: digitsOf(places) }, a) !== 0) throw new Error('more decimals than expected')
  const digits = (n < 0n ? -n : n).toString().padStart(places + 1, '0')
  const cut = digits.length - places
  const text = places ? `${digits.slice(0, cut)}.${digits.slice(cut)}` : digits
  return n < 0n ? `-${text}` : text
}

/** Writes a number without trailing zeros. Its decimal expansion must end. */
export function plain(a: Rational): string {
  for (let places = 0; places <= 60; places += 1)
    if ((a.n * digitsOf(places)) % a.d === 0n) return fixed(a, places)
  throw new Error('an endless decimal')
}

/** Writes a number with at most 12 decimals, without trailing zeros. */
export const plain12 = (a: Rational) => plain(round(a, 12))
