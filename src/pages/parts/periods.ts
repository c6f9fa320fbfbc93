import { DAY_MS } from '../../platform/durations.ts'
import {
  latestPeriods,
  type Period,
  type PeriodKind,
  parsePeriod,
} from '../../platform/money/calendar.ts'
import type { Visit } from '../base/page.ts'
import { periodWords } from './data.tsx'
import type { Input, Option } from './forms.tsx'
import type { PeriodSums } from './statement-lists.tsx'

// The choice of a period. Periods are chosen from a list, and never typed.

/** The sums of periods that a choice is made from. */
type Sums = Pick<PeriodSums, 'data'>

/** The latest periods that can be chosen, also if they have no statements. */
const LATEST: Readonly<Record<PeriodKind, number>> = { month: 13, week: 9 }

/** Returns the last day of a period, in days since 1970-01-01; one that does not exist comes first. */
const lastDayOf = (period: string): number => parsePeriod(period)?.last ?? Number.POSITIVE_INFINITY

const todayOf = (now: number): number => Math.floor(now / DAY_MS)

/** Returns whether a period has not ended on the day of `now` (milliseconds). */
export const isOpen = (period: string, now: number): boolean => lastDayOf(period) >= todayOf(now)

/** Returns whether a period has begun on the day of `now` (milliseconds). */
export const hasBegun = (period: string, now: number): boolean =>
  (parsePeriod(period)?.first ?? 0) <= todayOf(now)

/** Returns the kinds of the periods that have statements; months if there are none. */
export function periodKinds({ data }: Sums): PeriodKind[] {
  const hasWeeks = data.some(({ period }) => period.includes('W'))
  const hasMonths = data.some(({ period }) => !period.includes('W'))
  return [
    ...(hasMonths || !hasWeeks ? (['month'] as const) : []),
    ...(hasWeeks ? (['week'] as const) : []),
  ]
}

/** Returns the periods that can be chosen at `now` (milliseconds), the latest first. */
export function choosablePeriods(sums: Sums, now: number, chosen?: string): string[] {
  const latest = periodKinds(sums).flatMap((kind) =>
    latestPeriods(todayOf(now), kind, LATEST[kind]).map(({ id }: Period) => id),
  )
  const isKnown = chosen !== undefined && parsePeriod(chosen) !== null
  const all = [...sums.data.map(({ period }) => period), ...latest, ...(isKnown ? [chosen] : [])]
  return [...new Set(all)].sort((a, b) => lastDayOf(b) - lastDayOf(a))
}

/** Returns the filter that chooses a period. `shown` is the one that the page shows if none is chosen. */
export const periodFilter = (
  { query, today: now }: Visit,
  sums: Sums,
  shown?: string,
  others: readonly Option[] = [],
): Input => ({
  name: 'period',
  options: [
    ...choosablePeriods(sums, now, query.period ?? shown).map(
      (period): Option => [period, periodWords(period)],
    ),
    ...others,
  ],
  value: query.period ?? shown,
})
