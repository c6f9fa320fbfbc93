import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { readTime } from '../../src/ingest/brand/time.ts'
import { brand, deposited, eve } from '../brand.ts'
import { json } from '../partner.ts'
import { edgesOf, meaningOf, type Period, periodAt, runtimePeriods } from '../zones/oracle.ts'

// The offset changes from 1970 to 2037 of zones with every kind of change. `npm run worlds -- fuzz` tries those of
// every zone of the runtime, about 20,000, and more times around each of them.

/** Changes of an hour, of half an hour, by seconds and over midnight; zones that skipped a day or moved often. */
const KINDS = [
  'Africa/Casablanca',
  'Africa/Monrovia',
  'America/Asuncion',
  'America/Caracas',
  'America/New_York',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Antarctica/Troll',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Asia/Pyongyang',
  'Asia/Tehran',
  'Australia/Lord_Howe',
  'Europe/Dublin',
  'Europe/London',
  'Europe/Moscow',
  'Pacific/Apia',
  'Pacific/Kwajalein',
]

const ZONES = env.FUZZ_RUNS > 0 ? Intl.supportedValuesOf('timeZone') : KINDS
const PERIODS = new Map(ZONES.map((zone) => [zone, runtimePeriods(zone)]))

/** The timeout is long enough for a busy machine, so that it ends only tests that hang. */
vi.setConfig({ testTimeout: 600_000 })

const SECOND = 1000
const MINUTE = 60 * SECOND
const QUARTER = 15 * MINUTE
const HOUR = 60 * MINUTE
/** The steps between the times that are tried before and after an offset change. */
const STEP = env.FUZZ_RUNS > 0 ? QUARTER : 2 * HOUR
const DAY = 24 * HOUR
/** Returns a local time in the format of brands. */
const formatLocal = (clock: number) => new Date(clock).toISOString().slice(0, 19).replace('T', ' ')
const dayOf = (clock: number) => new Date(clock).toISOString().slice(0, 10)

/** Returns times from two hours before a time to two hours after it. */
function around(time: number, step: number): number[] {
  const from = time - 2 * HOUR
  return Array.from({ length: (4 * HOUR) / step + 1 }, (_, i) => from + i * step)
}

/** Returns the second before a time, the time, and the second after it. */
const secondsAround = (time: number) => [time - SECOND, time, time + SECOND]

/** Returns an offset in the format of a warning. */
function formatOffset(offset: number): string {
  const hours = new Date(Math.abs(offset)).toISOString().slice(11, 16)
  return (offset < 0 ? '-' : '+') + hours
}

/** Returns the difference between how a local time is read and its meaning, or null. */
function localDifference(zone: string, periods: readonly Period[], clock: number): string | null {
  const text = formatLocal(clock)
  const read = readTime(text, zone, '/createtime')
  const { instant, warning, local, offset } = meaningOf(periods, clock)
  const actual = read && [
    read.instant,
    read.day,
    ...read.warnings.flatMap(({ code, message }) => [code, message.split(' ').at(-1)]),
  ]
  const expected = [
    new Date(instant).toISOString(),
    text.slice(0, 10),
    ...(warning
      ? [warning, `\`${formatLocal(local).replace(' ', 'T')}${formatOffset(offset)}\`.`]
      : []),
  ]
  return actual?.join() === expected.join()
    ? null
    : `${zone} ${text}: ${actual}, expected ${expected}`
}

/** Returns the difference between the day of an instant and its local day, or null. */
function dayDifference(zone: string, periods: readonly Period[], instant: number): string | null {
  const { day } = readTime(new Date(instant).toISOString(), zone, '/createtime')!
  const expected = dayOf(instant + periodAt(periods, instant).offset)
  return day === expected
    ? null
    : `${zone} ${new Date(instant).toISOString()}: ${day}, expected ${expected}`
}

/** An offset change, and whether another zone has changed in the same way before. */
interface Edge {
  before: Period
  after: Period
  isRepeated: boolean
}

/**
 * Expects no differences at any offset change; returns the number of changes. Where the periods around
 * a change are those of another zone, fewer times are tried.
 */
function expectAtEdges(differencesAt: (zone: string, periods: Period[], edge: Edge) => unknown[]) {
  const found: unknown[] = []
  const met = new Set<string>()
  let edges = 0
  for (const [zone, periods] of PERIODS) {
    // Only periods near the change affect local times there, so the search needs no others.
    for (const edge of edgesOf(periods)) {
      const i = periods.indexOf(edge.after)
      const near = periods.slice(Math.max(0, i - 3), i + 4)
      const { size } = met
      const isKnown =
        met.add(near.map(({ from, offset }) => `${from} ${offset}`).join()).size === size
      const isRepeated = isKnown && env.FUZZ_RUNS === 0
      found.push(...differencesAt(zone, near, { ...edge, isRepeated }).filter(Boolean))
      edges += 1
    }
  }
  expect(found.slice(0, 20)).toEqual([])
  return edges
}

describe('at every offset change of every zone', () => {
  test('a local time is read as the calendar says, with the right warning', () => {
    const edges = expectAtEdges((zone, periods, { before, after, isRepeated }) => {
      const [left, right] = [after.from + before.offset, after.from + after.offset]
      const times = isRepeated
        ? [Math.min(left, right)]
        : new Set([left, right].flatMap((t) => [...around(t, STEP), ...secondsAround(t)]))
      return [...times].map((clock) => localDifference(zone, periods, clock))
    })
    expect(edges).toBeGreaterThan(1000)
  })

  test('an instant counts on its local day in the zone', () => {
    expectAtEdges((zone, periods, { after: { from }, isRepeated }) =>
      (isRepeated ? [from] : [...new Set([...around(from, STEP), ...secondsAround(from)])]).map(
        (at) => dayDifference(zone, periods, at),
      ),
    )
  })

  test('a day begins at the first instant of its local date', () => {
    expectAtEdges((zone, periods, { before, after, isRepeated }) => {
      const clocks = [after.from + before.offset, after.from + after.offset]
      const days = clocks.flatMap((clock) =>
        (isRepeated ? [clock] : [clock - DAY, clock, clock + DAY]).map(
          (t) => Math.floor(t / DAY) * DAY,
        ),
      )
      return [...new Set(days)].map((midnight) => {
        const day = dayOf(midnight)
        const { instant, warnings } = readTime(day, zone, '/createtime')!
        const expected = new Date(meaningOf(periods, midnight).instant).toISOString()
        return instant === expected && warnings.length === 0
          ? null
          : `${zone} ${day} begins at ${instant}, expected ${expected}`
      })
    })
  })
})

describe('the service', () => {
  test.each([
    ['Asia/Beirut', '2026-03-29 00:30', ['2026-03-28T22:30:00Z', '2026-03-29'], 'skipped_time'],
    ['Pacific/Apia', '2011-12-30 00:00', ['2011-12-30T10:00:00Z', '2011-12-31'], 'skipped_time'],
    ['Africa/Monrovia', '1972-01-07 00:44', ['1972-01-07T01:28:30Z', '1972-01-07'], 'skipped_time'],
  ])('in %s the service reads %s as %j', async (time_zone, createtime, [instant, day], code) => {
    const acme = await brand({ time_zone })
    const sent = createtime.slice(0, 10)
    // The same instant on the same day is unchanged. A later second is an update.
    const outcomes = []
    for (const regtime of [createtime, instant, instant!.replace(/\d\dZ/, '59Z')]) {
      outcomes.push((await json(acme.post('customers', [{ ...eve, regtime }]))).results[0].outcome)
    }
    expect(outcomes).toEqual(['created', sent === day ? 'unchanged' : 'updated', 'updated'])
    const local = { ...deposited, eventid: 'local', createtime }
    const utc = { ...deposited, eventid: 'utc', createtime: instant }
    const { results } = await json(acme.post('activities', [local, utc]))
    const codes = results.map(({ warnings = [] }: { warnings?: { code: string }[] }) =>
      warnings.map((one) => one.code).filter((one) => one !== 'implausible_time'),
    )
    expect(codes).toEqual([[code], []])
    const idsOf = async (date: string) =>
      (await json(acme.get(`activities?from=${date}&to=${date}`))).data.map(
        (event: { eventid: string }) => event.eventid,
      )
    expect(await idsOf(sent)).toEqual(sent === day ? ['local', 'utc'] : ['local'])
    expect(await idsOf(day!)).toEqual(sent === day ? ['local', 'utc'] : ['utc'])
  })
})
