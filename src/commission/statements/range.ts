import { DAY_MS } from '../../platform/durations.ts'
import type { DayRange } from '../db/fact-tables.ts'
import type { AccountBeginnings, FactDays } from '../db/facts.ts'
import type { Period } from '../engine/calendar.ts'
import { nextPeriod, type PeriodKind, parsePeriod, periodOf } from '../engine/calendar.ts'
import { factDaysBetween } from './days.ts'
import type { AccountSource } from './source.ts'

/** The periods that a computation needs, and the days with facts that it reads. */
export interface ComputedRange {
  readonly period: Period
  /** The first day that is computed: facts before it earn nothing. Days are since 1970. */
  readonly firstDay: number
  /** The first day of any record or manual entry; Infinity if there is none. */
  readonly anchor: number
  /** The first day that a manual entry can have if its plan is not assigned to its affiliate. */
  readonly unassignedFrom: number
  /** The days of which a rate may be needed. */
  readonly rateDays: readonly DayRange[]
  /** The days of which facts are read, by table. */
  readonly days: FactDays
  /** All periods from the first day on, of the kinds that plans have. */
  readonly periods: readonly Period[]
}

/** The maximum number of days by which a week ends after the month in which it begins. */
const DAYS_BEYOND = 6

/**
 * Returns the range of a computation up to a period. It starts with the first record or manual entry,
 * but not before the first assignment or manual entry, since no affiliate can earn before it. If an earlier
 * period is closed, it starts with that period.
 */
export function findRange(
  source: AccountSource,
  period: Period,
  { days, signupDay, booked }: AccountBeginnings,
): ComputedRange {
  const { periodKinds, firstAssignment } = source
  const lastDay = period.last + DAYS_BEYOND
  const all = Object.values(days)
  const entered = booked.entered === null ? null : Math.floor(Date.parse(booked.entered) / DAY_MS)
  const firsts = [...all.map(([first]) => first), signupDay, entered]
  const anchor = Math.min(...firsts.map((day) => day ?? Number.POSITIVE_INFINITY))
  const firstFact = Math.min(period.first, anchor)
  // A manual entry may outlive all assignments that its affiliate had when it was made.
  const firstEarning = Math.min(firstAssignment, entered ?? Number.POSITIVE_INFINITY)
  const firstDay = Math.min(
    Math.max(firstFact, Math.min(period.first, firstEarning)),
    ...booked.periods.map((id) => parsePeriod(id)?.first ?? firstFact),
  )
  const periods = periodsBetween(periodKinds, firstDay, period)
  const firstSummed = periods.reduce((first, one) => Math.min(first, one.first), firstDay)
  return {
    period,
    firstDay,
    anchor,
    unassignedFrom: Math.max(anchor, firstEarning),
    // The days between two records are left out, so that one old record does not load years of rates.
    rateDays: [...new Set([...all.flat(), ...periods.map(({ last }) => last)])].map((day) => ({
      first: day,
      last: day,
    })),
    days: factDaysBetween(days, firstSummed, lastDay),
    periods,
  }
}

/**
 * Returns the periods of some kinds, from the one in which a day lies to the last that begins
 * within a period.
 */
function periodsBetween(
  kinds: readonly PeriodKind[],
  firstDay: number,
  { last }: Period,
): Period[] {
  return [...kinds].flatMap((kind) => {
    const periods: Period[] = []
    for (let one = periodOf(firstDay, kind); one.first <= last; one = nextPeriod(one, 1)) {
      periods.push(one)
    }
    return periods
  })
}
