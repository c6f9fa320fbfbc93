/** Days are `YYYY-MM-DD`; periods are months (`2026-10`) or ISO 8601 weeks (`2026-W41`). */

export type Kind = 'month' | 'week'

export const DAY_MS = 86_400_000

/** Remembers the results of a function of a text: the calendar is asked the same again and again. */
function remembering(find: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    const found = known.get(text) ?? find(text)
    known.set(text, found)
    return found
  }
}

export const dayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10)
export const startOf = (day: string) => Date.parse(`${day}T00:00:00Z`)
export const addDays = (day: string, days: number) => dayOf(startOf(day) + days * DAY_MS)

/** The days of a time zone. */
export interface ZoneDays {
  /** Returns the day in the zone at an instant. */
  dayOf: (instant: number) => string
  /** Returns the first instant of a day. */
  startOf: (day: string) => number
}

/** Returns the days of a zone. The start of a day is found by asking the calendar for instants. */
export function daysOfZone(zone = 'UTC'): ZoneDays {
  if (zone === 'UTC') return { dayOf, startOf }
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  const dayIn = (instant: number) => format.format(instant)
  const starts = remembering((day) => {
    let [before, after] = [startOf(day) - DAY_MS, startOf(day) + DAY_MS]
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (dayIn(middle) < day) before = middle
      else after = middle
    }
    return String(after)
  })
  return { dayOf: dayIn, startOf: (day) => Number(starts(day)) }
}

/** Returns the same day of a later month, or the last day of that month. */
export function addMonths(day: string, months: number): string {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  const last = new Date(Date.UTC(year, month - 1 + months + 1, 0))
  return dayOf(
    Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), Math.min(date, last.getUTCDate())),
  )
}

/** Returns the Monday of the week in which a day lies. */
const mondayOf = (day: string) => addDays(day, -((new Date(startOf(day)).getUTCDay() + 6) % 7))

/** Returns the ISO 8601 week of a day. Its year is that of its Thursday. */
const weekOf = remembering((day) => {
  const year = addDays(mondayOf(day), 3).slice(0, 4)
  const first = mondayOf(`${year}-01-04`)
  const week = (startOf(mondayOf(day)) - startOf(first)) / (7 * DAY_MS) + 1
  return `${year}-W${String(week).padStart(2, '0')}`
})

export const periodOf = (kind: Kind, day: string) =>
  kind === 'month' ? day.slice(0, 7) : weekOf(day)

export const kindOf = (period: string): Kind => (period.includes('W') ? 'week' : 'month')

export const firstDay = remembering((period) => {
  if (kindOf(period) === 'month') return `${period}-01`
  const [year, week] = period.split('-W')
  return addDays(mondayOf(`${year}-01-04`), (Number(week) - 1) * 7)
})

export const lastDay = remembering((period) => {
  const first = firstDay(period)
  return kindOf(period) === 'month' ? addDays(addMonths(first, 1), -1) : addDays(first, 6)
})

export const nextPeriod = (period: string) => periodOf(kindOf(period), addDays(lastDay(period), 1))

/** Returns the calendar quarter of a day, such as `2026-Q4`. */
export const quarterOf = (day: string) =>
  `${day.slice(0, 4)}-Q${Math.ceil(Number(day.slice(5, 7)) / 3)}`
