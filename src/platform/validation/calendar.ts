// The days and date-times of the contract as text.

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Returns whether the day exists. `Date` would turn 31 February into 3 March. */
function isCalendarDay(year: number, month: number, day: number) {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day >= 1 && day <= (month === 2 && !leap ? 28 : (DAYS[month - 1] ?? 0))
}

/** The pattern of a day, `YYYY-MM-DD`. */
export const DAY_PATTERN = /^(\d{4})-(\d\d)-(\d\d)$/

/** Returns the text if it is an existing day in the form `YYYY-MM-DD`, else null. */
export function parseDay(text: string): string | null {
  const match = DAY_PATTERN.exec(text)
  return match && isCalendarDay(Number(match[1]), Number(match[2]), Number(match[3])) ? text : null
}

/** The pattern of an RFC 3339 date-time. */
export const INSTANT_PATTERN =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/

/** A date-time in UTC on day 1 to 28, which exists in every month: the common case, without parsing. */
const PLAIN_UTC_PATTERN =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/

/**
 * Converts an RFC 3339 date-time to UTC, truncated to milliseconds. Returns null if the text is not
 * a date-time, if the day does not exist, or if the year in UTC is not 0000 to 9999.
 *
 * @see [RFC 3339 §5.6](https://www.rfc-editor.org/rfc/rfc3339#section-5.6)
 */
export function parseInstant(text: string): string | null {
  if (PLAIN_UTC_PATTERN.test(text)) return text.length === 24 ? text : `${text.slice(0, -1)}.000Z`
  const match = INSTANT_PATTERN.exec(text)
  if (!match) return null
  const [, year, month, date, , fraction = '', sign, hours, minutes] = match
  if (!isCalendarDay(Number(year), Number(month), Number(date))) return null

  const utc = `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
  if (!sign) return utc
  const offset = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
  const shifted = new Date(Date.parse(utc) - offset).toISOString()
  // An offset can reach the years -1 and 10000, which have a sign and would not sort as text.
  return shifted.length === utc.length ? shifted : null
}
