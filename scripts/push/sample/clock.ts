import { offsetAt } from '../../../src/brand/zone.ts'

const DAY_MS = 86_400_000

/** Zones that set their clocks at all do so every year. */
const DAYS = 400

/**
 * A time in the middle of what a zone's clock has lately skipped (`forward`), or shown twice; null
 * where it was not set so.
 */
export function oddTime(zone: string, forward: boolean, now: number): string | null {
  for (let day = 0; day < DAYS; day++) {
    const before = now - (day + 1) * DAY_MS
    const from = offsetAt(zone, before)
    const to = offsetAt(zone, before + DAY_MS)
    if (from === to || to > from !== forward) continue
    const set = changeAfter(zone, before)
    return new Date(set + (from + to) / 2).toISOString().slice(0, 16).replace('T', ' ')
  }
  return null
}

/** The instant within a day at which the clock was set. */
function changeAfter(zone: string, start: number): number {
  let low = start
  let high = start + DAY_MS
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(zone, middle) === offsetAt(zone, start)) low = middle
    else high = middle
  }
  return high
}
