import { parseDay, parseInstant } from '../validation/fields.ts'
import { type Warning, warning } from '../validation/warnings.ts'
import { dayInZone, instantOfLocalTime } from './zone.ts'

/** A time as a brand writes it, understood. */
export interface BrandTime {
  /** The same as an instant in UTC; of a day its beginning. */
  instant: string
  /** The day as it was sent, or in the account's zone. */
  day: string
  /** Whether it is a day, and no more. */
  isDay: boolean
  warnings: Warning[]
}

/** How a brand writes a time, for whoever wrote it otherwise. */
export const TIME_FORMS = '2026-10-01 08:30, 2026-10-01 or 2026-10-01T08:30:00Z'

/** A time on the clock of the account's zone, as far as a pattern can say it. */
export const LOCAL_TIME_PATTERN = /^(\d{4}-\d\d-\d\d) ([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/

/** Years beyond four digits begin with a sign; a clock far from UTC may show one. */
const isPlainYear = ({ instant, day }: BrandTime) => /^\d{4}-/.test(instant) && /^\d{4}-/.test(day)

/** Reads a time, or says null where there is no such time. */
export function readTime(text: string, zone: string, pointer: string): BrandTime | null {
  const time = parseTime(text, zone, pointer)
  return time && isPlainYear(time) ? time : null
}

/** On the clock of the account's zone, as a day of it, or as RFC 3339 has it. */
function parseTime(text: string, zone: string, pointer: string): BrandTime | null {
  if (text.length === 10) {
    const day = parseDay(text)
    return day === null
      ? null
      : { instant: toInstantInZone(day, '00:00:00', zone).instant, day, isDay: true, warnings: [] }
  }
  const [, date, hours, minutes, seconds = '00'] = LOCAL_TIME_PATTERN.exec(text) ?? []
  if (date !== undefined) {
    const day = parseDay(date)
    if (!day) return null
    const { instant, odd, shown } = toInstantInZone(day, `${hours}:${minutes}:${seconds}`, zone)
    const warnings = odd
      ? [warning(odd === 'skipped' ? 'skipped_time' : 'ambiguous_time', pointer, text, shown())]
      : []
    return { instant, day, isDay: false, warnings }
  }
  const instant = parseInstant(text)
  if (instant === null) return null
  return { instant, day: dayInZone(zone, Date.parse(instant)), isDay: false, warnings: [] }
}

function toInstantInZone(day: string, time: string, zone: string) {
  const { instant, irregularity, offset } = instantOfLocalTime(zone, Date.parse(`${day}T${time}Z`))
  const shown = () => new Date(instant + offset).toISOString().slice(0, 19) + formatOffset(offset)
  return { instant: new Date(instant).toISOString(), odd: irregularity, shown }
}

function formatOffset(offset: number): string {
  const minutes = Math.abs(Math.round(offset / 60_000))
  const two = (n: number) => String(n).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
