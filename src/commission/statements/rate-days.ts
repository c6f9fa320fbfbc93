import type { DayRange } from '../../db/commission/rates.ts'
import type { Period } from '../engine/calendar.ts'
import type { PlansInForce } from '../engine/plans-in-force.ts'

/**
 * Returns the days of which a computation may need a rate: the days with records and, if a plan has
 * overrides, the last day of each period, by whose rate lines are converted. The days between two
 * records are left out, so that one old record does not load years of rates.
 */
export function rateDays(
  factDays: readonly (readonly number[])[],
  { plans }: PlansInForce,
  periods: readonly Period[],
): DayRange[] {
  const rules = [...plans.values()].flatMap(({ versions }) => versions.flatMap((one) => one.rules))
  const lasts = rules.some(({ kind }) => kind === 'override') ? periods.map(({ last }) => last) : []
  return rangesOf([...factDays.flat(), ...lasts])
}

/** Returns the ranges of consecutive days. */
function rangesOf(days: readonly number[]): DayRange[] {
  const ranges: DayRange[] = []
  for (const day of days.toSorted((a, b) => a - b)) {
    const before = ranges.at(-1)
    if (before === undefined || day > before.last + 1) ranges.push({ first: day, last: day })
    else ranges[ranges.length - 1] = { first: before.first, last: day }
  }
  return ranges
}
