import { DAY_MS } from '../../../src/durations.ts'
import { offsetAt } from '../../../src/zone.ts'

/** Time zones with daylight saving time change their clocks every year. */
const SEARCH_DAYS = 400

/**
 * Returns a local time in the middle of the most recent hour that a clock change skipped
 * (`forward`) or repeated, or null if the time zone had no such change.
 */
export function changedTime(zone: string, forward: boolean, now: number): string | null {
  for (let day = 0; day < SEARCH_DAYS; day++) {
    const start = now - (day + 1) * DAY_MS
    const from = offsetAt(zone, start)
    const to = offsetAt(zone, start + DAY_MS)
    if (from === to || to > from !== forward) continue
    const change = firstChange(zone, start)
    return new Date(change + (from + to) / 2).toISOString().slice(0, 16).replace('T', ' ')
  }
  return null
}

/** Returns the instant of a clock change within a day, by bisection. */
function firstChange(zone: string, start: number): number {
  let low = start
  let high = start + DAY_MS
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(zone, middle) === offsetAt(zone, start)) low = middle
    else high = middle
  }
  return high
}
