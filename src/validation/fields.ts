import * as v from 'valibot'
import { CURRENCIES, WITHDRAWN } from './iso-4217.ts'
import type { IssueCode } from './issue.ts'

/**
 * A schema's message is the code of its rule, then what it expects: Valibot's own messages quote
 * the value, and a value may be personal.
 */
const rule = <C extends IssueCode>(code: C, expected = '') =>
  expected ? `${code} ${expected}` : code

/** Characters are Unicode code points, as JSON Schema counts them; most texts are too short to count. */
const hasLength = (max: number) => (text: string) =>
  text.length > 0 && (text.length <= max || (text.length <= 2 * max && [...text].length <= max))

/** Whether a text can be kept: NUL ends it for some, and two lone surrogates are stored alike. */
export const isStorableText = (text: string) => text.isWellFormed() && !text.includes('\0')

/** The contract: no text is longer. */
export const MAX_TEXT = 500

/** Text of 1 to `max` characters. */
const textOf = (max: number) =>
  v.pipe(
    v.string(),
    v.check(hasLength(max), rule('length', `1 to ${max}`)),
    v.check(isStorableText, rule('text')),
  )

/** Any text, of 1 to 500 characters. */
export const text = textOf(MAX_TEXT)

/** What the sender calls something. */
export const id = text

/** Where a customer came from, of 1 to 50 characters. */
export const tracking = textOf(50)

const matching = (pattern: RegExp) =>
  v.pipe(text, v.regex(pattern, rule('pattern', String(pattern).slice(1, -1))))

/** A language, as ISO 639-1 writes it. */
export const language = matching(/^[a-z]{2}$/)

/** A country, as ISO 3166-1 alpha-2 writes it. */
export const country = matching(/^[A-Z]{2}$/)

/** A ratio such as 1:100. */
export const leverage = matching(/^1:\d+(\.\d+)?$/)

// One atom before each dot and no nesting of repeats: it stays linear on hostile input.
const EMAIL =
  /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[A-Za-z\d](?:[A-Za-z\d-]*[A-Za-z\d])?\.)+[A-Za-z\d](?:[A-Za-z\d-]*[A-Za-z\d])?$/

/** An e-mail address, in the form that JSON Schema's `email` asks for. */
export const email = v.pipe(text, v.regex(EMAIL, rule('email')))

/** A currency of ISO 4217, as published; one that was withdrawn lately passes, with a warning. */
export const currency = v.pipe(
  text,
  v.check((code) => CURRENCIES.has(code) || WITHDRAWN.has(code), rule('currency')),
)

/** One of the words that the vertical knows. */
export const oneOf = <const W extends string>(...words: W[]) =>
  v.pipe(v.string(), v.picklist(words, rule('enum', words.join(', '))))

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Whether the calendar has the day; `Date` would take 31 February for 3 March. */
function isCalendarDay(year: number, month: number, day: number) {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day >= 1 && day <= (month === 2 && !leap ? 28 : (DAYS[month - 1] ?? 0))
}

/** A day, as far as a pattern can say it. */
export const DAY_PATTERN = /^(\d{4})-(\d\d)-(\d\d)$/

/** The text, if it is a day of the calendar, written YYYY-MM-DD. */
export function parseDay(text: string): string | null {
  const found = DAY_PATTERN.exec(text)
  return found && isCalendarDay(Number(found[1]), Number(found[2]), Number(found[3])) ? text : null
}

/** A day of the calendar. */
export const day = v.pipe(
  v.string(),
  v.check((text) => parseDay(text) !== null, rule('date')),
)

/** A date-time, as far as a pattern can say it. */
export const INSTANT_PATTERN =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/

/** A date-time in UTC, of a day that each month has: next to nothing of it is to be worked out. */
const PLAIN_UTC_PATTERN =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/

/**
 * An RFC 3339 date-time in UTC, cut to milliseconds, or null where there is no such instant.
 *
 * @see [RFC 3339 §5.6](https://www.rfc-editor.org/rfc/rfc3339#section-5.6)
 */
export function parseInstant(text: string): string | null {
  if (PLAIN_UTC_PATTERN.test(text)) return text.length === 24 ? text : `${text.slice(0, -1)}.000Z`
  const found = INSTANT_PATTERN.exec(text)
  if (!found) return null
  const [, year, month, date, , fraction = '', sign, hours, minutes] = found
  if (!isCalendarDay(Number(year), Number(month), Number(date))) return null

  const utc = `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
  if (!sign) return utc
  const offset = Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
  const shifted = new Date(Date.parse(utc) - offset).toISOString()
  // Years beyond four digits begin with a sign, and would not sort as text.
  return shifted.length === utc.length ? shifted : null
}

const isShort = hasLength(MAX_TEXT)

/** A date-time of RFC 3339, kept in UTC. */
export const instant = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const isLong = dataset.value !== '' && !isShort(dataset.value)
    const utc = isLong ? null : parseInstant(dataset.value)
    if (utc !== null) return utc
    addIssue({ message: isLong ? rule('length', `1 to ${MAX_TEXT}`) : rule('date_time') })
    return NEVER
  }),
)

/** No amount is beyond this, or has more decimal places than that. */
export const MAX_AMOUNT = 1e15
const MAX_PLACES = 12

/**
 * Whether a number is within ±10^15, no finer than 10^-12, and of at most 15 significant digits:
 * so many a double keeps exactly. What was written with more digits arrives as NaN, see
 * `parseJson`, since a double would hide them.
 */
function hasFewDigits(n: number): boolean {
  const size = Math.abs(n)
  if (!(size <= MAX_AMOUNT)) return false
  if (size < 1e13 && isInHundredths(size)) return true
  const [mantissa, exponent = '0'] = String(size).split('e') as [string, string?]
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
  const digits = (whole + fraction).replace(/^0+|0+$/g, '')
  return digits.length <= 15 && fraction.length - Number(exponent) <= MAX_PLACES
}

/**
 * Exact for what has at most 15 digits: a number with two places is the double that is nearest to
 * its hundredths by 100, which are a whole number that a double holds.
 */
const isInHundredths = (n: number) => Math.round(n * 100) / 100 === n

/** Any JSON number; `1e400` is one, too, and becomes Infinity. */
const number = v.custom<number>((value) => typeof value === 'number', rule('type', 'number'))

/** An amount of at most 15 significant digits. */
export const amount = v.pipe(
  number,
  v.check((n) => Math.abs(n) !== Number.POSITIVE_INFINITY, rule('number')),
  v.check(hasFewDigits, rule('digits')),
)

/** An amount of at most 2 decimal places. */
export const money = v.pipe(amount, v.check(isInHundredths, rule('decimals')))

/** An amount of zero or more. */
export const notNegative = v.pipe(amount, v.minValue(0, rule('minimum', '0')))

/** Lots, of at most 2 decimal places. */
export const lots = v.pipe(notNegative, v.check(isInHundredths, rule('decimals')))
