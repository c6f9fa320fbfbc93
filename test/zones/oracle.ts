// Converts local times to instants by a search in the list of a zone's periods, without a calendar and
// without assumptions about the days before and after.

const HOUR = 3_600_000

/** A period in which a zone keeps one offset from UTC. All values are in milliseconds. */
export interface Period {
  from: number
  /** The first instant after the period. */
  until: number
  /** How far the clock is ahead of UTC. */
  offset: number
}

/** The range of years in which the tests try every offset change of every zone. */
export const FROM = Date.UTC(1970, 0, 1)
export const TO = Date.UTC(2038, 0, 1)

/** Returns the offset by the runtime's calendar, from a format that the service does not use. */
export function runtimeOffset(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  return (instant) => {
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(instant))!
    const offset = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
    return (sign === '-' ? -offset : offset) * 1000
  }
}

/**
 * Returns the periods of a zone by the runtime's calendar: a binary search finds each change. No zone
 * changes its offset twice in `step`.
 */
export function runtimePeriods(zone: string, step = 5 * 24 * HOUR): Period[] {
  const offsetAt = runtimeOffset(zone)
  const periods: Period[] = []
  let from = Number.NEGATIVE_INFINITY
  let offset = offsetAt(FROM - 3 * step)
  for (let at = FROM - 2 * step; at < TO + 3 * step; at += step) {
    if (offsetAt(at) === offset) continue
    let [before, after] = [at - step, at]
    while (after - before > 1000) {
      const middle = before + Math.floor((after - before) / 2000) * 1000
      if (offsetAt(middle) === offset) before = middle
      else after = middle
    }
    periods.push({ from, until: after, offset })
    from = after
    offset = offsetAt(after)
  }
  return [...periods, { from, until: Number.POSITIVE_INFINITY, offset }]
}

/** Returns the offset changes of a zone in that range, each with the periods before and after. */
export const edgesOf = (periods: readonly Period[]) =>
  periods.flatMap((after, i) => {
    const before = periods[i - 1]
    return before && after.from >= FROM && after.from < TO ? [{ before, after }] : []
  })

/** The meaning of a local time: the first instant that shows it, or its substitute. */
export interface Meaning {
  instant: number
  warning: 'skipped_time' | 'ambiguous_time' | null
  /** The local time at that instant. */
  local: number
  offset: number
}

/** Returns the meaning of a local time; `clock` is the local time as if it were UTC. */
export function meaningOf(periods: readonly Period[], clock: number): Meaning {
  const showing = periods.filter(
    ({ from, until, offset }) => clock - offset >= from && clock - offset < until,
  )
  const [first] = showing
  if (first) {
    const warning = showing.length > 1 ? 'ambiguous_time' : null
    return { instant: clock - first.offset, warning, local: clock, offset: first.offset }
  }
  // Between two periods: the clock skipped this time.
  const ended = periods.findLast(({ until, offset }) => until + offset <= clock)!
  const instant = clock - ended.offset
  const { offset } = periodAt(periods, instant)
  return { instant, warning: 'skipped_time', local: instant + offset, offset }
}

/** Returns the period that contains an instant. */
export const periodAt = (periods: readonly Period[], instant: number): Period =>
  periods.find(({ from, until }) => instant >= from && instant < until)!
