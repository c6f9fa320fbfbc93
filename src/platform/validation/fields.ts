import * as v from 'valibot'
import { parseDay, parseInstant } from './calendar.ts'
import { CURRENCIES, WITHDRAWN } from './iso-4217.ts'
import { ruleMessage } from './issue.ts'
import { maskNumbers } from './mask-numbers.ts'
import { quote } from './quote.ts'
import { suggest } from './suggest.ts'

/** Well-known codes of crypto-assets. Some differ from a currency code by one letter only. */
const CRYPTO_CODES: ReadonlySet<string> = new Set(
  (
    'ADA ATOM AVAX BCH BNB BTC BUSD DAI DASH DOGE DOT ETC ETH LINK LTC MATIC POL SHIB SOL TON TRX ' +
    'TUSD USDC USDT XBT XLM XMR XRP ZEC'
  ).split(' '),
)

/** ISO 4217 codes that nobody means: for testing, and for no currency. */
const SPECIAL_CODES: readonly string[] = ['XTS', 'XXX']

/** The codes that a hint may suggest. */
const SUGGESTED = [...CURRENCIES].filter((code) => !SPECIAL_CODES.includes(code))

/** Returns what to send instead of a code that is not a currency, or null. */
export function currencyHint(sent: string): string | null {
  if (CRYPTO_CODES.has(sent.trim().toUpperCase())) {
    return 'Convert the amount to an ISO 4217 currency.'
  }
  const code = suggest(sent.trim(), SUGGESTED)
  return code && `Did you mean ${quote(code)}?`
}

/** What the documentation says of a member. */
interface Said<Example> {
  readonly description: string
  readonly examples?: readonly Example[]
}

type Documentation<Example> = string | Said<Example> | undefined

declare const process: { readonly env: { readonly NODE_ENV?: string } }

/**
 * Returns what the documentation says of a member, from which JSON Schemas and pages are generated; undefined
 * in a bundle for production, which needs none. wrangler and `chaos/workerd.ts` write the value of `NODE_ENV`
 * here. esbuild then drops the calls with their texts, as long as this function has no rest parameter.
 */
export function said<Example extends string | number | boolean | object | null>(
  description: string,
  example?: Example,
): Said<Example> | undefined {
  if (process.env.NODE_ENV === 'production') return undefined
  return { description, ...(example !== undefined && { examples: [example] }) }
}

/**
 * Returns the schema of a member with its documentation, which validation skips; in production the schema itself.
 * A text suffices where the bundle has no call of this function: inside `described`.
 */
export function member<S extends v.GenericSchema>(
  schema: S,
  documentation: Documentation<v.InferInput<S>>,
): S {
  if (process.env.NODE_ENV === 'production' || documentation === undefined) return schema
  const pipe = 'pipe' in schema && Array.isArray(schema.pipe) ? schema.pipe : [schema]
  const metadata =
    typeof documentation === 'string' ? { description: documentation } : documentation
  return { ...schema, pipe: [...pipe, v.metadata({ ...metadata })] }
}

/** Returns the schema of a member that may be left out, with its documentation. */
export const optional = <S extends v.GenericSchema>(
  schema: S,
  documentation: Documentation<v.InferInput<S>>,
): v.OptionalSchema<S, undefined> => v.optional(member(schema, documentation))

/** Returns the schema of a member that may be absent, but never undefined, with its documentation. */
export const exactOptional = <S extends v.GenericSchema>(
  schema: S,
  documentation: Documentation<v.InferInput<S>>,
): v.ExactOptionalSchema<S, undefined> => v.exactOptional(member(schema, documentation))

/** Returns the schema of a member that may be null, with its documentation. */
export const nullable = <S extends v.GenericSchema>(
  schema: S,
  documentation: Documentation<v.InferInput<S>>,
): v.NullableSchema<S, undefined> => v.nullable(member(schema, documentation))

/** The contract: a number has at most so many significant digits. Any double keeps them. */
export const MAX_SIGNIFICANT_DIGITS = 15

/** Returns the number of significant digits of a text of digits. Zeros at either end do not count. */
export function countSignificantDigits(digits: string): number {
  // No regular expression: it would take quadratic time.
  let start = 0
  let end = digits.length
  while (digits[start] === '0') start += 1
  while (end > start && digits[end - 1] === '0') end -= 1
  return end - start
}

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
export const textOf = (max: number) =>
  v.pipe(
    v.string(),
    v.check(hasLength(max), ruleMessage('length', `1 to ${max}`)),
    v.check(isStorableText, ruleMessage('text')),
  )

/** A string of 1 to 500 code points. */
export const text = textOf(MAX_TEXT)

/** Returns whether a text has a character that can be seen. U+2800 is a Braille pattern without dots. */
const isVisible = (value: string) =>
  /[^\p{Default_Ignorable_Code_Point}\p{Z}\p{Cc}\u2800]/u.test(value)

const PRINTABLE = ruleMessage('pattern', 'printable characters')

/** Returns a schema for `label` of 1 to `max` code points. */
export const labelOf = (max: number) =>
  v.pipe(
    textOf(max),
    v.check(isVisible, PRINTABLE),
    v.regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u, PRINTABLE),
  )

/** Text that is shown to people: without control characters and bidirectional formatting, and not only blank. */
export const label = labelOf(MAX_TEXT)

/**
 * Returns whether a text has no control characters but tabs and line ends, and none that turn the direction
 * of the text after them: a log or a terminal would show the rest of its line as something else.
 */
const isInOrder = (value: string) => !/[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069]/u.test(value)

/** Returns a schema for what a person writes for others to read, of 1 to `max` code points. */
export const remarkOf = (max: number) =>
  v.pipe(
    textOf(max),
    v.check(isVisible, ruleMessage('pattern', 'text that is not only white space')),
    v.check(
      isInOrder,
      ruleMessage('pattern', 'text without control characters and directional formatting'),
    ),
  )

/** A reason, of 1 to 500 code points. Who gives one may copy it from a bank, with the IBAN. */
export const reason = v.pipe(
  remarkOf(MAX_TEXT),
  v.transform((written) => maskNumbers(written)),
)

/** An identifier chosen by the sender, of 1 to 500 code points. URL parsers take the steps `.` and `..` from a path. */
export const id = v.pipe(
  ...text.pipe,
  v.regex(/^(?!\.{1,2}$)/, ruleMessage('pattern', 'another id than `.` and `..`')),
)

/** Returns whether a text has no white space around it. */
const isTrimmed = (value: string) => value === value.trim()

/**
 * The id of an affiliate as the integrations team configures it, or `*` for all others. White space
 * around an id comes with files, and would make another affiliate that looks the same.
 */
export const affiliateOrAll = v.pipe(
  id,
  v.check(isTrimmed, ruleMessage('pattern', 'an id without white space around it')),
)

/** The id of one affiliate as the integrations team configures it. */
export const affiliateId = v.pipe(
  affiliateOrAll,
  v.check(
    (value) => value !== '*',
    ruleMessage('pattern', 'the id of one affiliate; `*` stands for all others in assignments'),
  ),
)

/** The `tracking_data` of a customer, of 1 to 50 code points. */
export const tracking = textOf(50)

const matching = (pattern: RegExp, expected: string) =>
  v.pipe(text, v.regex(pattern, ruleMessage('pattern', expected)))

/** A language code of ISO 639-1, such as `de`. */
export const language = matching(
  /^[a-z]{2}$/,
  'a two-letter language code in lower case, such as `de`',
)

/** A country code of ISO 3166-1 alpha-2, such as `DE`. */
export const country = matching(
  /^[A-Z]{2}$/,
  'a two-letter country code in upper case, such as `DE`',
)

/** A ratio such as `1:100`. */
export const leverage = matching(/^1:\d+(\.\d+)?$/, 'a ratio such as `1:100`')

// Letters beyond ASCII are accepted, without the blocks of punctuation and symbols.
const ATOM = /[\w!#$%&'*+/=?^`{|}~\u00a1-\u1fff\u3040-\ud7ff-]+/.source
const ALPHANUMERIC = /[A-Za-z\d\u00a1-\u1fff\u3040-\ud7ff]/.source
const LABEL = `${ALPHANUMERIC}(?:${ALPHANUMERIC.replace(']', '-]')}*${ALPHANUMERIC})?`

// No nested repetition, so matching takes linear time on hostile input.
const EMAIL = new RegExp(`^${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+${LABEL}$`)

/** An e-mail address in the format `idn-email` of JSON Schema (RFC 6531). */
export const email = v.pipe(text, v.regex(EMAIL, ruleMessage('email')))

/** The most characters of an address to which mail can be sent (RFC 5321 §4.5.3.1.3, without the angle brackets). */
const MAX_ADDRESS = 254

/** An e-mail address by which a person is known: a letter that only looks like another one would make another person of it. */
export const address = v.pipe(
  email,
  v.maxLength(MAX_ADDRESS, ruleMessage('length', `1 to ${MAX_ADDRESS}`)),
  v.regex(/^[!-~]+$/, ruleMessage('pattern', 'an address in ASCII')),
)

/** A currency code of ISO 4217. Recently withdrawn codes are valid and get a warning. */
export const currency = v.pipe(
  text,
  v.check((code) => CURRENCIES.has(code) || WITHDRAWN.has(code), ruleMessage('currency')),
)

/** Returns a schema for one of these values. */
export const oneOf = <const W extends string>(...values: W[]) =>
  v.pipe(v.string(), v.picklist(values, ruleMessage('enum', values.join(', '))))

/** An existing day in the form `YYYY-MM-DD`. */
export const day = v.pipe(
  v.string(),
  v.check((text) => parseDay(text) !== null, ruleMessage('date')),
)

const isShort = hasLength(MAX_TEXT)

/** An RFC 3339 date-time, converted to UTC. */
export const instant = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const isLong = dataset.value !== '' && !isShort(dataset.value)
    const utc = isLong ? null : parseInstant(dataset.value)
    if (utc !== null) return utc
    addIssue({
      message: isLong ? ruleMessage('length', `1 to ${MAX_TEXT}`) : ruleMessage('date_time'),
    })
    return NEVER
  }),
)

/** The largest absolute value of an amount. */
export const MAX_AMOUNT = 1e15
const MAX_PLACES = 12

/** The most decimal places of an amount that is summed. */
export const SUMMED_PLACES = 8

/**
 * Returns whether a number is within ±10^15 and has at most 15 significant digits, which a double represents
 * exactly, and at most so many decimal places. `parseJson` turns numbers that were written with more digits into
 * NaN, because the double would hide them.
 */
function hasFewDigits(n: number, places: number): boolean {
  const size = Math.abs(n)
  if (!(size <= MAX_AMOUNT)) return false
  if (size < 1e13 && isInHundredths(size)) return true
  // Such as `1.25e-7`: all significant digits, the first of them before the point.
  const text = size.toExponential()
  const end = text.indexOf('e')
  const digits = Math.max(1, end - 1)
  return digits <= MAX_SIGNIFICANT_DIGITS && digits - 1 - Number(text.slice(end + 1)) <= places
}

/**
 * Returns whether a number has at most 2 decimal places. Exact for numbers of at most 15 digits:
 * their hundredths are an integer that a double represents exactly.
 */
const isInHundredths = (n: number) => Math.round(n * 100) / 100 === n

/** Any JSON number. `1e400` is valid JSON and is parsed to Infinity. */
export const number = v.custom<number>(
  (value) => typeof value === 'number',
  ruleMessage('type', 'number'),
)

/**
 * Returns a schema for numbers within ±10^15 of at most 15 significant digits and so many decimal places. `told` is the
 * number of places that the message tells, where a later rule allows fewer.
 */
const figureOf = (places: number, told = places) =>
  v.pipe(
    number,
    v.check((n) => Math.abs(n) !== Number.POSITIVE_INFINITY, ruleMessage('number')),
    v.check((n) => hasFewDigits(n, places), ruleMessage('digits', `${told} decimal places`)),
  )

/** A number of at most 12 decimal places, which is never summed. */
export const figure = figureOf(MAX_PLACES)

/** A figure of zero or more. */
export const notNegativeFigure = v.pipe(figure, v.minValue(0, ruleMessage('minimum', '0')))

/** An amount that is summed: a number of at most 8 decimal places. */
export const amount = figureOf(SUMMED_PLACES)

/** A number whose only limit on places is that of hundredths. */
const hundredths = figureOf(MAX_PLACES, 2)

/** An amount of at most 2 decimal places. */
export const money = v.pipe(hundredths, v.check(isInHundredths, ruleMessage('decimals')))

/** An amount of zero or more. */
export const notNegative = v.pipe(amount, v.minValue(0, ruleMessage('minimum', '0')))

/** A number of lots: zero or more, with at most 2 decimal places. */
export const lots = v.pipe(
  hundredths,
  v.minValue(0, ruleMessage('minimum', '0')),
  v.check(isInHundredths, ruleMessage('decimals')),
)

const SLUG = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/

/** The id of an account or a plan: 1 to 63 lowercase letters, digits and hyphens. */
export const slug = v.pipe(
  text,
  v.regex(SLUG, 'pattern small letters, digits and hyphens, 1 to 63 characters'),
)
