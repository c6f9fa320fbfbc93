import type { ActivityDays, DaySpan } from '../db/records/activity-days.ts'
import { toDay } from '../db/records/activity-days.ts'
import { DAY_MS } from '../durations.ts'
import { ACTIVITY_DUE_HOUR } from './freshness.ts'

/** The number of days that are checked; today is not one of them. */
const CHECKED_DAYS = 30
/** A day is compared with the same weekday of this many weeks before it. */
const COMPARED_WEEKS = 8
const WEEK_DAYS = 7
/** The fewest of these weekdays that must have records. */
const MIN_COMPARED = 4
/** The share of the median below which a day has far fewer records than usual. */
const LOW_SHARE = 0.25

/** A day with far fewer records than the days of the same weekday before it. */
export interface LowDay {
  day: string
  count: number
  median: number
}

/** Which days of a feed lack records. */
export interface Completeness {
  missing_days: string[]
  low_days: LowDay[]
  /** The days that were not compared, because their records are not counted yet. */
  days_not_counted: number
}

/**
 * Returns the days that the completeness of a feed depends on at `now` (milliseconds). Yesterday is one of
 * them only once its activity is due.
 */
export function completenessSpan(now: number): DaySpan {
  const today = Math.floor(now / DAY_MS)
  const to = new Date(now).getUTCHours() < ACTIVITY_DUE_HOUR ? today - 2 : today - 1
  const from = to - CHECKED_DAYS + 1
  return { from, countedFrom: from - COMPARED_WEEKS * WEEK_DAYS, to }
}

/**
 * Returns the days of a span on which a feed has no records since its first one, and those with less than a
 * quarter of the median of the last 8 days of the same weekday, of which at least 4 must have records.
 */
export function completenessOf(
  { firstDay, days, counted }: ActivityDays,
  { from, to }: DaySpan,
): Completeness {
  const present = new Set(days)
  const length = firstDay === null ? 0 : Math.max(0, to - Math.max(from, firstDay) + 1)
  const checked = Array.from({ length }, (_, i) => to - length + 1 + i)
  const low = checked.flatMap((day) => {
    const count = present.has(day) ? counted.get(day) : undefined
    const median = medianBefore(day, counted)
    return count !== undefined && median !== null && count < median * LOW_SHARE
      ? [{ day: toDay(day), count, median }]
      : []
  })
  return {
    missing_days: checked.filter((day) => !present.has(day)).map(toDay),
    low_days: low,
    days_not_counted: checked.filter((day) => present.has(day) && !counted.has(day)).length,
  }
}

/** Returns the median of the same weekday of the weeks before; null if too few of these have records. */
function medianBefore(day: number, counted: ReadonlyMap<number, number>): number | null {
  const counts = Array.from({ length: COMPARED_WEEKS }, (_, i) =>
    counted.get(day - (i + 1) * WEEK_DAYS),
  )
    .filter((count) => count !== undefined && count > 0)
    .map(Number)
    .sort((a, b) => a - b)
  if (counts.length < MIN_COMPARED) return null
  const middle = Math.floor(counts.length / 2)
  const upper = counts[middle] ?? 0
  return counts.length % 2 === 1 ? upper : ((counts[middle - 1] ?? 0) + upper) / 2
}
