import { DAY_MS } from '../durations.ts'
/** The periods of a plan: calendar months (`2026-10`) and ISO 8601 weeks (`2026-W41`). */
export type PeriodKind = 'month' | 'week'

/** A period and its first and last day, as days since 1970-01-01. */
export interface Period {
  readonly id: string
  readonly kind: PeriodKind
  readonly first: number
  readonly last: number
}

/** Returns the days since 1970 of `YYYY-MM-DD`. */
export const dayNumber = (text: string): number => Date.parse(`${text}T00:00:00Z`) / DAY_MS

/** Returns `YYYY-MM-DD` of a day since 1970. */
export const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** Returns the days since 1970 of a day of a month; month 12 is January of the next year. */
function dayOf(year: number, month: number, date: number): number {
  const time = new Date(0)
  time.setUTCFullYear(year, month, date)
  return time.getTime() / DAY_MS
}

/** Returns the day `months` months later: the same day of the month, or the month's last day. */
export function addMonths(day: number, months: number): number {
  const date = new Date(day * DAY_MS)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth() + months
  const lastOfMonth = dayOf(year, month + 1, 0)
  return Math.min(dayOf(year, month, date.getUTCDate()), lastOfMonth)
}

/** Returns the first day of the period of a kind in which a day lies. */
export const firstDayOf = (day: number, kind: PeriodKind): number =>
  kind === 'month' ? day - new Date(day * DAY_MS).getUTCDate() + 1 : mondayOf(day)

/** Returns the Monday on or before a day. 1970-01-01 was a Thursday. */
const mondayOf = (day: number): number => day - ((((day + 3) % 7) + 7) % 7)

/** Returns the period of a kind in which a day lies. */
export function periodOf(day: number, kind: PeriodKind): Period {
  return kind === 'month' ? monthOf(day) : weekOf(day)
}

function monthOf(day: number): Period {
  const date = new Date(day * DAY_MS)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth()
  return {
    id: date.toISOString().slice(0, 7),
    kind: 'month',
    first: dayOf(year, month, 1),
    last: dayOf(year, month + 1, 0),
  }
}

/** A week belongs to the year of its Thursday. */
function weekOf(day: number): Period {
  const first = mondayOf(day)
  const thursday = first + 3
  const year = new Date(thursday * DAY_MS).getUTCFullYear()
  const week = 1 + Math.floor((thursday - dayOf(year, 0, 1)) / 7)
  const id = `${String(year).padStart(4, '0')}-W${String(week).padStart(2, '0')}`
  return { id, kind: 'week', first, last: first + 6 }
}

const PERIOD_ID = /^(\d{4})-(?:(0[1-9]|1[0-2])|W(0[1-9]|[1-4]\d|5[0-3]))$/

/** Parses `2026-10` or `2026-W41`. Returns null if there is no such period. */
export function parsePeriod(id: string): Period | null {
  const [, year, month, week] = PERIOD_ID.exec(id) ?? []
  if (year === undefined) return null
  if (month !== undefined) return monthOf(dayNumber(`${id}-01`))
  const period = weekOf(weekOf(dayOf(Number(year), 0, 4)).first + 7 * (Number(week) - 1))
  return period.id === id ? period : null
}

/**
 * Parses the id of a period that the engine wrote.
 *
 * @throws Error if there is no such period.
 */
export function storedPeriod(id: string): Period {
  const period = parsePeriod(id)
  if (period === null) throw new Error(`${id} is not a period.`)
  return period
}

/** Returns the next period (`step` 1) or the previous one (-1) of the same kind. */
export const nextPeriod = ({ kind, first, last }: Period, step: 1 | -1): Period =>
  periodOf(step === 1 ? last + 1 : first - 1, kind)

/**
 * Returns a period up to a day at most. A period that runs is judged as of today: what can still happen has not
 * failed.
 */
export const periodUntil = (period: Period, day: number): Period => ({
  ...period,
  last: Math.min(period.last, day),
})

/** Returns the latest periods of a kind until the one in which a day lies, the latest first. */
export function latestPeriods(day: number, kind: PeriodKind, count: number): Period[] {
  const periods = [periodOf(day, kind)]
  for (let last = periods[0]; last && periods.length < count; periods.push(last)) {
    last = nextPeriod(last, -1)
  }
  return periods
}

/** Returns a number that is the same for all days of a calendar quarter. */
export function quarterOf(day: number): number {
  const date = new Date(day * DAY_MS)
  return 4 * date.getUTCFullYear() + Math.floor(date.getUTCMonth() / 3)
}

/** Returns the periods of the other kind that share days with a period. */
export function overlapping(period: Period): Period[] {
  const kind = period.kind === 'month' ? 'week' : 'month'
  const periods: Period[] = []
  for (let day = period.first; day <= period.last; ) {
    const found = periodOf(day, kind)
    periods.push(found)
    day = found.last + 1
  }
  return periods
}

/** Returns a period and those of the other kind that end within it. */
export const endingWithin = (period: Period): Period[] =>
  [period, ...overlapping(period)].filter(({ last }) => last <= period.last)
