import * as v from 'valibot'
import { CURRENCIES, WITHDRAWN } from './iso-4217.ts'
import { ruleMessage } from './issue.ts'

// Each rule has a message of its own, because Valibot's messages quote the value, which may be
// personal.

/** Returns the number of Unicode code points, which are the characters that JSON Schema counts. */
export function countCharacters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/** Most strings are too short, or too long, to be counted. */
const hasLength = (max: number) => (text: string) =>
  text.length > 0 &&
  (text.length <= max || (text.length <= 2 * max && countCharacters(text) <= max))

/**
 * Returns whether a string can be stored and returned unchanged. NUL ends a string in some clients,
 * and all unpaired surrogates are stored as the same character.
 */
export const isStorableText = (text: string) => text.isWellFormed() && !text.includes('\0')

/** The contract: the maximum length of a string, in code points. */
export const MAX_TEXT = 500

/** Returns a schema for strings of 1 to `max` code points. */
const textOf = (max: number) =>
  v.pipe(
    v.string(),
    v.check(hasLength(max), ruleMessage('length', `1 to ${max}`)),
    v.check(isStorableText, ruleMessage('text')),
  )

/** A string of 1 to 500 code points. */
export const text = textOf(MAX_TEXT)

/** An identifier chosen by the sender, of 1 to 500 code points. */
export const id = text

/** The `tracking_data` of a customer, of 1 to 50 code points. */
export const tracking = textOf(50)

const matching = (pattern: RegExp) =>
  v.pipe(text, v.regex(pattern, ruleMessage('pattern', String(pattern).slice(1, -1))))

/** A language code of ISO 639-1, such as `de`. */
export const language = matching(/^[a-z]{2}$/)

/** A country code of ISO 3166-1 alpha-2, such as `DE`. */
export const country = matching(/^[A-Z]{2}$/)

/** A ratio such as `1:100`. */
export const leverage = matching(/^1:\d+(\.\d+)?$/)

// No nested repetition, so matching takes linear time on hostile input.
const EMAIL =
  /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[A-Za-z\d](?:[A-Za-z\d-]*[A-Za-z\d])?\.)+[A-Za-z\d](?:[A-Za-z\d-]*[A-Za-z\d])?$/

/** An e-mail address in the format `email` of JSON Schema. */
export const email = v.pipe(text, v.regex(EMAIL, ruleMessage('email')))

/** A currency code of ISO 4217. Recently withdrawn codes are valid and get a warning. */
export const currency = v.pipe(
  text,
  v.check((code) => CURRENCIES.has(code) || WITHDRAWN.has(code), ruleMessage('currency')),
)

/** Returns a schema for one of these values. */
export const oneOf = <const W extends string>(...values: W[]) =>
  v.pipe(v.string(), v.picklist(values, ruleMessage('enum', values.join(', '))))

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

/** An existing day in the form `YYYY-MM-DD`. */
export const day = v.pipe(
  v.string(),
  v.check((text) => parseDay(text) !== null, ruleMessage('date')),
)

/** The pattern of an RFC 3339 date-time. */
export const INSTANT_PATTERN =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/

/** A date-time in UTC on day 1 to 28, which exists in every month: the common case, without parsing. */
const PLAIN_UTC_PATTERN =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/

/**
 * Converts an RFC 3339 date-time to UTC, truncated to milliseconds. Returns null if the text is not
 * a date-time, if the day does not exist, or if the year in UTC is not 0000 to 9999.
 */
export function parseInstant(text: string): string | null {
  if (PLAIN_UTC_PATTERN.test(text)) return text.length === 24 ? text : `${text.slice(0, -1)}.000Z`
  const utc = parseAnyInstant(text)
  // Years of more than four digits have a sign and would not sort as text.
  return utc?.length === UTC_LENGTH ? utc : null
}

const UTC_LENGTH = '2026-10-01T08:30:00.000Z'.length

/**
 * Converts an RFC 3339 date-time like `parseInstant`, with any year in UTC. The years -1 and 10000,
 * which an offset can reach, have six digits and a sign.
 *
 * @see [RFC 3339 §5.6](https://www.rfc-editor.org/rfc/rfc3339#section-5.6)
 */
export function parseAnyInstant(text: string): string | null {
  const match = INSTANT_PATTERN.exec(text)
  if (!match) return null
  const [, year, month, date, , fraction = '', sign, hours, minutes] = match
  if (!isCalendarDay(Number(year), Number(month), Number(date))) return null

  const utc = `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
  if (!sign) return utc
  const offset = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
  return new Date(Date.parse(utc) - offset).toISOString()
}

const YEARS_IN_UTC = 'year from 0000 to 9999 in UTC'

const isShort = hasLength(MAX_TEXT)

/** An RFC 3339 date-time, converted to UTC. */
export const instant = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const isLong = dataset.value !== '' && !isShort(dataset.value)
    const utc = isLong ? null : parseInstant(dataset.value)
    if (utc !== null) return utc
    const isOutOfRange = !isLong && parseAnyInstant(dataset.value) !== null
    addIssue({
      message: isLong
        ? ruleMessage('length', `1 to ${MAX_TEXT}`)
        : ruleMessage('date_time', isOutOfRange ? YEARS_IN_UTC : ''),
    })
    return NEVER
  }),
)

/** The largest absolute value of an amount. */
export const MAX_AMOUNT = 1e15
const MAX_PLACES = 12

/**
 * Returns whether a number is within ±10^15 and has at most 12 decimal places and 15 significant
 * digits, which a double represents exactly. `parseJson` turns numbers that were written with more
 * digits into NaN, because the double would hide them.
 */
function hasFewDigits(n: number): boolean {
  const size = Math.abs(n)
  if (!(size <= MAX_AMOUNT)) return false
  if (size < 1e13 && isInHundredths(size)) return true
  // Such as `1.25e-7`: all significant digits, the first of them before the point.
  const text = size.toExponential()
  const end = text.indexOf('e')
  const digits = Math.max(1, end - 1)
  return digits <= 15 && digits - 1 - Number(text.slice(end + 1)) <= MAX_PLACES
}

/**
 * Returns whether a number has at most 2 decimal places. Exact for numbers of at most 15 digits:
 * their hundredths are an integer that a double represents exactly.
 */
const isInHundredths = (n: number) => Math.round(n * 100) / 100 === n

/** Any JSON number. `1e400` is valid JSON and is parsed to Infinity. */
const number = v.custom<number>((value) => typeof value === 'number', ruleMessage('type', 'number'))

/** An amount within ±10^15 of at most 15 significant digits and 12 decimal places. */
export const amount = v.pipe(
  number,
  v.check((n) => Math.abs(n) !== Number.POSITIVE_INFINITY, ruleMessage('number')),
  v.check(hasFewDigits, ruleMessage('digits')),
)

/** An amount of at most 2 decimal places. */
export const money = v.pipe(amount, v.check(isInHundredths, ruleMessage('decimals')))

/** An amount of zero or more. */
export const notNegative = v.pipe(amount, v.minValue(0, ruleMessage('minimum', '0')))

/** A number of lots: zero or more, with at most 2 decimal places. */
export const lots = v.pipe(notNegative, v.check(isInHundredths, ruleMessage('decimals')))
