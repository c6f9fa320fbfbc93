/** A limb holds six digits: a sum of limbs cannot overflow a 64-bit integer. */
export const LIMB = 1_000_000

/** The unit of a sum is 10^-12. */
export const UNITS_PER_ONE = 10n ** 12n

/** Returns a sum of four limbs in units of 10^-12. */
export function unitsOf(row: SumRow, name: string): bigint {
  const limb = (i: number) => BigInt(Number(row[`${name}_${i}`]))
  const whole = limb(0) * BigInt(LIMB) + limb(1)
  const fraction = limb(2) * BigInt(LIMB) + limb(3)
  return whole * UNITS_PER_ONE + fraction
}

/** Sums a value in four limbs: two of the whole part, two of the fraction. */
export const limbsOf = (value: string, name: string): readonly Column[] => [
  [`${name}_0`, `sum(${wholePart(value)} / ${LIMB})`],
  [`${name}_1`, `sum(${wholePart(value)} % ${LIMB})`],
  [`${name}_2`, `sum(${fraction(value)} / ${LIMB})`],
  [`${name}_3`, `sum(${fraction(value)} % ${LIMB})`],
]

const wholePart = (value: string) => `cast(${value} as integer)`

/**
 * Returns the fraction in units of 10^-12. A double keeps 15 significant digits of a decimal: if n of
 * them are before the point, the first 15 - n places are right, and the others are rounded off.
 */
function fraction(value: string): string {
  const scales = Array.from({ length: 12 }, (_, i) => {
    const places = 12 - i
    return `when abs(${value}) < 1e${15 - places} then 1e${places}`
  })
  const scale = `case ${scales.join(' ')} else 1 end`
  return `cast(round((${value} - ${wholePart(value)}) * ${scale}) * (1e12 / ${scale}) as integer)`
}

const [MIN_INTEGER, MAX_INTEGER] = [-(2n ** 63n), 2n ** 63n - 1n]

/** Returns what `cast(… as integer)` returns. */
function castInteger(value: number): bigint {
  const whole = BigInt(Math.trunc(value))
  return whole > MAX_INTEGER ? MAX_INTEGER : whole < MIN_INTEGER ? MIN_INTEGER : whole
}

/** From here on doubles have no fraction. */
const WHOLE_DOUBLES = 2 ** 52

/** Returns what `round(…)` returns: halves away from zero. */
const round = (value: number): number =>
  Math.abs(value) > WHOLE_DOUBLES ? value : Math.trunc(value + (value < 0 ? -0.5 : 0.5))

/** Returns a value in units of 10^-12, as `limbsOf` counts it. */
export function toUnits(value: number): bigint {
  const places = Array.from({ length: 12 }, (_, i) => 12 - i).find(
    (one) => Math.abs(value) < Number(`1e${15 - one}`),
  )
  const scale = Number(`1e${places ?? 0}`)
  const whole = castInteger(value)
  const scaled = round((value - Number(whole)) * scale)
  return whole * UNITS_PER_ONE + castInteger(scaled * (1e12 / scale))
}

/** A row of a query that sums: its group, and the limbs of its sums. */
export type SumRow = Record<string, unknown>

/** A column: its name, and the SQL of its value. */
export type Column = readonly [name: string, sql: string]
