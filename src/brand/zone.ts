// Times on the clock of a zone are kept as if they were UTC, in milliseconds: 08:30 in Berlin is
// 08:30Z here, until it is read.

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

/** Before this no zone has changed its offset; the era of its years is told, too. */
const EARLIEST = Date.UTC(1800, 0, 1)

const DAY_MS = 86_400_000

/** How far the clock of a zone is ahead of UTC at an instant; all in milliseconds. */
export function offsetAt(zone: string, instant: number): number {
  if (zone === 'UTC') return 0
  const midnight = Math.floor(instant / DAY_MS) * DAY_MS
  // On most days the clock is not set at all: to ask the calendar each time costs a bulk 20 ms.
  const offset = cachedOffset(zone, midnight)
  return offset === cachedOffset(zone, midnight + DAY_MS) ? offset : cachedOffset(zone, instant)
}

/** What the calendar has said, by zone and instant. */
const offsetCache = new Map<string, Map<number, number>>()
const MAX_CACHED_OFFSETS = 20_000

function cachedOffset(zone: string, instant: number): number {
  const offsets = offsetCache.get(zone) ?? new Map<number, number>()
  const found = offsets.get(instant) ?? computeOffset(zone, instant)
  if (offsets.size >= MAX_CACHED_OFFSETS) offsets.clear()
  offsetCache.set(zone, offsets.set(instant, found))
  return found
}

/** What the calendar of the runtime says. */
function computeOffset(zone: string, instant: number): number {
  const at = Math.max(Math.floor(instant / 1000) * 1000, EARLIEST)
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year, month, day, hour, minute, second } = parts as Record<string, number>
  return Date.UTC(year!, month! - 1, day, hour, minute, second) - at
}

/** The instant at which a zone's clock shows a time, and what is odd of it. */
export interface ZonedInstant {
  instant: number
  /** The clock never showed it, and went on so much later; or it showed it twice, this was the first. */
  irregularity: 'skipped' | 'ambiguous' | null
  offset: number
}

/**
 * Reads a time on the clock of a zone. One that was skipped is read with the offset from before, so
 * that it is as much later as the clock was set forward; of one that comes twice the first is taken.
 */
export function instantOfLocalTime(zone: string, clock: number): ZonedInstant {
  const before = offsetAt(zone, clock - DAY_MS)
  const after = offsetAt(zone, clock + DAY_MS)
  const shows = (offset: number) => offsetAt(zone, clock - offset) === offset
  if (shows(before)) {
    const twice = before !== after && shows(after)
    return { instant: clock - before, irregularity: twice ? 'ambiguous' : null, offset: before }
  }
  if (shows(after)) return { instant: clock - after, irregularity: null, offset: after }
  const instant = clock - before
  return { instant, irregularity: 'skipped', offset: offsetAt(zone, instant) }
}

/** The day on the clock of a zone. */
export const dayInZone = (zone: string, instant: number) =>
  new Date(instant + offsetAt(zone, instant)).toISOString().slice(0, 10)
