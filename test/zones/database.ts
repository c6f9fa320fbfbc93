import { links, version, zones } from 'moment-timezone/data/packed/latest.json'

// The time zone database as compiled by `zic` and packed by moment-timezone. It is independent of ICU,
// the time zone data of the runtime.

/** A period in which a zone keeps one offset from UTC. All values are in milliseconds. */
export interface Period {
  from: number
  /** The first instant after the period. */
  until: number
  /** How far the clock is ahead of UTC. */
  offset: number
}

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX'

/** Returns minutes that are written in base 60, with a fraction after the point: `-1e.Q`. */
function minutesOf(packed: string): number {
  const [, sign, whole = '', part = ''] = /^(-?)(\w*)\.?(\w*)$/.exec(packed)!
  let minutes = 0
  for (const digit of whole) minutes = minutes * 60 + DIGITS.indexOf(digit)
  for (const [i, digit] of [...part].entries()) minutes += DIGITS.indexOf(digit) / 60 ** (i + 1)
  return sign ? -minutes : minutes
}

const MINUTE = 60_000

/** Returns the periods of a zone in order, with equal neighbours joined. */
function unpack([, , offsets = '', indexes = '', deltas = '']: readonly string[]): Period[] {
  const known = offsets.split(' ').map((packed) => Math.round(-minutesOf(packed) * MINUTE))
  const spans = deltas.split(' ').filter(Boolean)
  const periods: Period[] = []
  let from = Number.NEGATIVE_INFINITY
  let minutes = 0
  for (const [i, index] of [...indexes].entries()) {
    const offset = known[DIGITS.indexOf(index)]!
    minutes += spans[i] === undefined ? Number.POSITIVE_INFINITY : minutesOf(spans[i])
    const until = Math.round(minutes * MINUTE)
    const last = periods.at(-1)
    if (last?.offset === offset) last.until = until
    else periods.push({ from, until, offset })
    from = until
  }
  return periods
}

const packed = new Map(zones.map((zone) => [zone.split('|')[0]!, zone.split('|')]))
const renamed = new Map(
  links.map((link) => link.split('|') as [string, string]).map(([old, name]) => [name, old]),
)

/** The release of the database. */
export const RELEASE = version

/** Returns the periods of a zone by any of its names, or undefined for an unknown zone. */
export function periodsOf(zone: string): Period[] | undefined {
  const found = packed.get(zone) ?? packed.get(renamed.get(zone) ?? '')
  return found && unpack(found)
}
