import { parseDay, parseInstant } from '../../platform/validation/calendar.ts'
import { type Warning, warning } from '../../platform/validation/warnings.ts'
import { dayInZone, instantOfLocalTime } from '../../platform/zone.ts'

/** A parsed brand time. */
export interface BrandTime {
  /** The instant in UTC, as RFC 3339; for a date, its beginning in the account's time zone. */
  instant: string
  /** The date as sent; for an RFC 3339 date-time, the date in the account's time zone. */
  day: string
  /** Whether the text is a date without a time. */
  isDay: boolean
  warnings: Warning[]
}

/** The accepted forms of a brand time, for error messages. */
export const TIME_FORMS = '2026-10-01 08:30, 2026-10-01 or 2026-10-01T08:30:00Z'

/** Matches a date-time without an offset. It does not check that the date exists. */
export const LOCAL_TIME_PATTERN =
  /^(\d{4}-\d\d-\d\d)[ T]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d+))?)?$/

/** Returns whether both years have four digits: the offset of a zone can shift a time beyond 9999. */
const isPlainYear = ({ instant, day }: BrandTime) => /^\d{4}-/.test(instant) && /^\d{4}-/.test(day)

/** Parses a brand time in the zone of its account, or returns null if the text is not a valid time. */
export function readTime(text: string, zone: string, pointer: string): BrandTime | null {
  const time = readAnyTime(text, zone, pointer)
  return time && isPlainYear(time) ? time : null
}

const readAnyTime = (text: string, zone: string, pointer: string) =>
  text.length === 10
    ? parseDate(text, zone)
    : (parseLocalTime(text, zone, pointer) ?? parseOffsetTime(text, zone))

function parseDate(text: string, zone: string): BrandTime | null {
  const day = parseDay(text)
  if (day === null) return null
  const { instant } = instantOfLocalTime(zone, Date.parse(`${day}T00:00:00Z`))
  return { instant: new Date(instant).toISOString(), day, isDay: true, warnings: [] }
}

function parseLocalTime(text: string, zone: string, pointer: string): BrandTime | null {
  const match = LOCAL_TIME_PATTERN.exec(text) ?? []
  const [, date, hours, minutes, seconds = '00', fraction = ''] = match
  const day = date === undefined ? null : parseDay(date)
  if (day === null) return null
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0')
  const clock = Date.parse(`${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`)
  const { instant, irregularity, offset } = instantOfLocalTime(zone, clock)
  const warnings =
    irregularity === null
      ? []
      : [
          warning(
            WARNING_CODES[irregularity],
            pointer,
            text,
            new Date(instant + offset).toISOString().slice(0, 19) + formatOffset(offset),
          ),
        ]
  return { instant: new Date(instant).toISOString(), day, isDay: false, warnings }
}

const WARNING_CODES = { skipped: 'skipped_time', ambiguous: 'ambiguous_time' } as const

function parseOffsetTime(text: string, zone: string): BrandTime | null {
  const instant = parseInstant(text)
  if (instant === null) return null
  return { instant, day: dayInZone(zone, Date.parse(instant)), isDay: false, warnings: [] }
}

/** Formats an offset in milliseconds as `+02:00`. */
function formatOffset(offset: number): string {
  const minutes = Math.abs(Math.round(offset / 60_000))
  const twoDigits = (n: number) => String(n).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`
}
