import { DAY_MS } from './durations.ts'

// A local time is represented as the UTC instant with the same clock reading, in milliseconds: 08:30
// in Berlin is 08:30Z until `instantOfLocalTime` converts it.

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
  formats.set(zone, format)
  return format
}

/** No zone changed its offset before this instant; `Intl` also writes years before 1 with an era. */
const EARLIEST = Date.UTC(1800, 0, 1)

/** Returns the offset of a zone from UTC at an instant; both in milliseconds. */
export function offsetAt(zone: string, instant: number): number {
  if (zone === 'UTC') return 0
  const midnight = Math.floor(instant / DAY_MS) * DAY_MS
  // The offset rarely changes within a day. Asking `Intl` for every record costs 20 ms per bulk.
  const offset = cachedOffset(zone, midnight)
  return offset === cachedOffset(zone, midnight + DAY_MS) ? offset : cachedOffset(zone, instant)
}

/** Offsets by zone and instant. */
const offsetCache = new Map<string, Map<number, number>>()
const MAX_CACHED_OFFSETS = 20_000

function cachedOffset(zone: string, instant: number): number {
  const offsets = offsetCache.get(zone) ?? new Map<number, number>()
  const offset = offsets.get(instant) ?? computeOffset(zone, instant)
  if (offsets.size >= MAX_CACHED_OFFSETS) offsets.clear()
  offsetCache.set(zone, offsets.set(instant, offset))
  return offset
}

/** Computes an offset from the time zone database of the runtime. */
function computeOffset(zone: string, instant: number): number {
  const at = Math.max(Math.floor(instant / 1000) * 1000, EARLIEST)
  const parts = new Map<string, number>()
  for (const { type, value } of formatOf(zone).formatToParts(at)) parts.set(type, Number(value))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? Number.NaN
  const clock = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  )
  return clock - at
}

/** The instant of a local time, in milliseconds, with the offset of the zone at that instant. */
export interface ZonedInstant {
  instant: number
  /** `skipped`: the clock was set forward past this time. `ambiguous`: the clock showed it twice. */
  irregularity: 'skipped' | 'ambiguous' | null
  offset: number
}

/**
 * Returns the instant of a local time. A skipped time is read with the offset before the change, as
 * `Temporal` does; of an ambiguous time the first occurrence is taken.
 */
export function instantOfLocalTime(zone: string, clock: number): ZonedInstant {
  const before = offsetAt(zone, clock - DAY_MS)
  const after = offsetAt(zone, clock + DAY_MS)
  const isOffsetValid = (offset: number) => offsetAt(zone, clock - offset) === offset
  if (isOffsetValid(before)) {
    const isAmbiguous = before !== after && isOffsetValid(after)
    return {
      instant: clock - before,
      irregularity: isAmbiguous ? 'ambiguous' : null,
      offset: before,
    }
  }
  if (isOffsetValid(after)) return { instant: clock - after, irregularity: null, offset: after }
  const instant = clock - before
  return { instant, irregularity: 'skipped', offset: offsetAt(zone, instant) }
}

/** What decides on the days of an account. */
interface AccountZones {
  vertical: string
  time_zone: string
  book_zone: string
}

/** Returns the time zone of the days of an account's facts: `time_zone` of brands, else `book_zone`. */
export const bookZoneOf = ({ vertical, time_zone, book_zone }: AccountZones): string =>
  vertical === 'igaming' ? time_zone : book_zone

/** Returns the date in a zone at an instant, as YYYY-MM-DD. */
export const dayInZone = (zone: string, instant: number) =>
  new Date(instant + offsetAt(zone, instant)).toISOString().slice(0, 10)

/** Returns the current day of an account's books, as YYYY-MM-DD. */
export const todayOf = (account: AccountZones): string => dayInZone(bookZoneOf(account), Date.now())
