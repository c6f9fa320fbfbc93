import { type Period, periodsOf } from './database.ts'

// What a time on the clock of a zone means, looked up in the list of its periods: no calendar is
// asked, and nothing is guessed from the day before or after.

const HOUR = 3_600_000

/** The years in which every edge of every zone is tried. */
export const FROM = Date.UTC(1970, 0, 1)
export const TO = Date.UTC(2038, 0, 1)

/** What the runtime's own calendar says, in another form than the one that the service reads. */
export function runtimeOffset(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  return (instant) => {
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(instant))!
    const offset = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
    return (sign === '-' ? -offset : offset) * 1000
  }
}

/** The periods of a zone as the runtime has them: its edges found by halving the days between. */
export function runtimePeriods(zone: string, step = 24 * HOUR): Period[] {
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

/** Where a zone's clock is set, in the years that are tried: the periods before and after. */
export const edgesOf = (periods: readonly Period[]) =>
  periods.flatMap((after, i) => {
    const before = periods[i - 1]
    return before && after.from >= FROM && after.from < TO ? [{ before, after }] : []
  })

/** What a time on a clock means: the first instant that shows it, or the one that stands for it. */
export interface Meaning {
  instant: number
  odd: 'skipped_time' | 'ambiguous_time' | null
  /** What the clock shows at that instant. */
  shown: number
  offset: number
}

/** What a time on the clock of a zone means; `clock` as if it were UTC. */
export function meaningOf(periods: readonly Period[], clock: number): Meaning {
  const showing = periods.filter(
    ({ from, until, offset }) => clock - offset >= from && clock - offset < until,
  )
  const [first] = showing
  if (first) {
    const odd = showing.length > 1 ? 'ambiguous_time' : null
    return { instant: clock - first.offset, odd, shown: clock, offset: first.offset }
  }
  // Between two periods: the clock had run past the end of the one, and not yet to the other.
  const ended = periods.findLast(({ until, offset }) => until + offset <= clock)!
  const instant = clock - ended.offset
  const { offset } = periodAt(periods, instant)
  return { instant, odd: 'skipped_time', shown: instant + offset, offset }
}

/** The period that an instant is in. */
export const periodAt = (periods: readonly Period[], instant: number): Period =>
  periods.find(({ from, until }) => instant >= from && instant < until)!

/** The periods of every zone that the runtime knows; of what it has not learnt yet, its own. */
export function allPeriods(behind: readonly string[]): Map<string, Period[]> {
  const zones = Intl.supportedValuesOf('timeZone')
  return new Map(
    zones.map((zone) => [zone, behind.includes(zone) ? runtimePeriods(zone) : periodsOf(zone)!]),
  )
}
