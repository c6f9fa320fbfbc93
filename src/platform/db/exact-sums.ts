import { SUMMED_PLACES } from '../validation/fields.ts'

/**
 * The most values that one statement may sum: a low limb is below 10^12 and a high limb at most 10^11, so that
 * neither sum leaves 64 bits.
 */
export const MAX_SUMMED = 4_000_000

/**
 * Returns the SQL of the exact sum of a value within ±10^15 with at most 8 decimal places: two limbs as text, since
 * D1 returns numbers as doubles. The sum is null if no record has a value. `unitsOf` reads it.
 */
export function sumSql(value: string): string {
  const high = `cast(${value} / 1e4 as integer)`
  // A double keeps 15 significant digits of a decimal: if n of them are before the point, the first 15 - n places
  // are right, and the others are rounded off.
  const places = Array.from({ length: SUMMED_PLACES }, (_, i) => SUMMED_PLACES - i)
  const rounded = (scale: number) =>
    `round((${value} - ${high} * 10000) * 1e${scale}) * 1e${SUMMED_PLACES - scale}`
  const cases = places.map((scale) => `when abs(${value}) < 1e${15 - scale} then ${rounded(scale)}`)
  const low = `cast(case ${cases.join(' ')} else ${rounded(0)} end as integer)`
  return `sum(${high}) || ' ' || sum(${low})`
}

/** Returns a sum of `sumSql` in units of 10^-12. */
export function unitsOf(sum: unknown): bigint {
  const [high = '', low = ''] = String(sum).split(' ')
  return BigInt(high) * 10n ** 16n + BigInt(low) * 10n ** 4n
}

/** A row of a query that sums: its group, and its sums by name. */
export type SumRow = Record<string, unknown>

/** A column: its name, and the SQL of its value. */
export type Column = readonly [name: string, sql: string]
