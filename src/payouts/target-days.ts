import { dayNumber, dayText } from '../platform/db/column-types.ts'
import type { StoredBatch } from './model.ts'

// TARGET, which settles payments in euro between banks: the days on which it is closed, by its own calendar.

/** The days of each year, as month and day. */
const CLOSED: ReadonlySet<string> = new Set(['01-01', '05-01', '12-25', '12-26'])

/** Returns the number of the day of Easter Sunday in a year (the algorithm of Meeus, Jones and Butcher). */
function easterOf(year: number): number {
  const century = Math.floor(year / 100)
  const moon = 19 * (year % 19) + century - Math.floor(century / 4) + 15
  const shift = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3)
  const epact = (moon - shift) % 30
  const leap = 32 + 2 * (century % 4) + 2 * Math.floor((year % 100) / 4)
  const week = (leap - epact - (year % 4)) % 7
  const late = Math.floor(((year % 19) + 11 * epact + 22 * week) / 451)
  return dayNumber(`${year}-03-22`) + epact + week - 7 * late
}

/** Returns whether TARGET is closed on a day (`YYYY-MM-DD`): at weekends too. */
function isClosed(day: string): boolean {
  const fromEaster = dayNumber(day) - easterOf(Number(day.slice(0, 4)))
  const weekday = new Date(day).getUTCDay()
  return weekday % 6 === 0 || CLOSED.has(day.slice(5)) || fromEaster === -2 || fromEaster === 1
}

/** Returns the next day on which TARGET is open; null if it is open on the day itself. */
export function nextTargetDay(day: string): string | null {
  let next = day
  while (isClosed(next)) next = dayText(dayNumber(next) + 1)
  return next === day ? null : next
}

/** Returns what a person should know before they pay on a day: banks execute transfers by SEPA when TARGET is open. */
export function warningsOf(batch: Pick<StoredBatch, 'method' | 'currency' | 'execute_on'>) {
  const isSettled = batch.method === 'sepa' && batch.currency === 'EUR'
  const next_open_day = isSettled ? nextTargetDay(batch.execute_on) : null
  return next_open_day === null ? [] : [{ code: 'bank_holiday' as const, next_open_day }]
}
