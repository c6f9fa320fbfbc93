import { links, version, zones } from 'moment-timezone/data/packed/latest.json'

// The time zone database as `zic` compiles it, packed by moment-timezone: what the runtime's own
// calendar (ICU) knows was compiled by others, in another way, and is read in another way.

/** How long a zone's clock keeps one distance from UTC; all in milliseconds. */
export interface Period {
  from: number
  /** The first instant that is no longer in it. */
  until: number
  /** How far the clock is ahead of UTC. */
  offset: number
}

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX'

/** Minutes, as they are packed to the base 60: `-1e.Q` is so many, and so many sixtieths. */
function minutesOf(packed: string): number {
  const [, sign, whole = '', part = ''] = /^(-?)(\w*)\.?(\w*)$/.exec(packed)!
  let minutes = 0
  for (const digit of whole) minutes = minutes * 60 + DIGITS.indexOf(digit)
  for (const [i, digit] of [...part].entries()) minutes += DIGITS.indexOf(digit) / 60 ** (i + 1)
  return sign ? -minutes : minutes
}

const MINUTE = 60_000

/** The periods of a zone one after the other, neighbours of which differ. */
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

/** Which release of the database it is. */
export const RELEASE = version

/** The periods of a zone, by any of its names; undefined: there is no such zone. */
export function periodsOf(zone: string): Period[] | undefined {
  const found = packed.get(zone) ?? packed.get(renamed.get(zone) ?? '')
  return found && unpack(found)
}
