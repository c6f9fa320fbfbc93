import * as v from 'valibot'
import { DAY_MS } from '../durations.ts'
import { ApiError } from '../errors.ts'
import { day } from '../validation/fields.ts'
import { quote, quoteAll } from '../validation/quote.ts'
import { suggest } from '../validation/suggest.ts'

/** Returns an `invalid_query` error. */
export const invalidQuery = (detail: string) => new ApiError('invalid_query', { detail })

/** Returns the `invalid_query` error of a parameter whose value is not what is expected. */
export const invalidValue = (name: string, value: string, expected: string, advice = '') =>
  invalidQuery(`\`${name}\` must be ${expected}, not ${quote(value)}.${advice}`)

/**
 * Returns the value of a parameter if it is one of `values`; undefined if it is absent.
 *
 * @throws ApiError `invalid_query`
 */
export function readChoice<const T extends string>(
  name: string,
  value: string | undefined,
  values: readonly T[],
): T | undefined {
  const found = values.find((one) => one === value)
  if (found || value === undefined) return found
  const closest = suggest(value, values)
  const expected = quoteAll(values).replace(/, (?=[^,]*$)/, ' or ')
  const detail = closest
    ? `\`${name}\` cannot be ${quote(value)}. Did you mean ${quote(closest)}?`
    : `\`${name}\` must be ${expected}, not ${quote(value)}.`
  throw invalidQuery(detail)
}

/**
 * Returns whether a parameter is `true`. It is false if it is absent.
 *
 * @throws ApiError `invalid_query`
 */
export const readFlag = (name: string, value: string | undefined): boolean =>
  readChoice(name, value, ['true', 'false']) === 'true'

/** The most ids that a parameter lists. */
const MAX_IDS = 500

const idList = v.pipe(
  v.string(),
  v.parseJson(),
  v.array(v.string()),
  v.minLength(1),
  v.maxLength(MAX_IDS),
)

/**
 * Reads the ids that a parameter lists. It is JSON, because an id may have any character.
 *
 * @throws ApiError `invalid_query`
 */
export function readIds(name: string, text: string): readonly string[] {
  const ids = v.safeParse(idList, text)
  if (ids.success) return ids.output
  throw invalidValue(name, text, `a JSON array of 1 to ${MAX_IDS} ids`)
}

/**
 * Checks that the value of a parameter is a day that exists.
 *
 * @throws ApiError `invalid_query`
 */
export function checkDay(name: string, value: string): void {
  if (!v.is(day, value)) throw invalidValue(name, value, VALID_DATE)
}

/** The form of a day, in errors. */
export const VALID_DATE = 'a valid date in the form `YYYY-MM-DD`'

/**
 * Returns the parameters of a URL. Unknown parameters are refused: a misspelt `dryrun=true` would
 * otherwise be ignored, and the records stored.
 *
 * @throws ApiError `invalid_query` for an unknown, repeated or empty parameter.
 */
export function readQuery<const N extends string>(
  url: string,
  ...supported: N[]
): Partial<Record<N, string>> {
  const query: Partial<Record<N, string>> = {}
  const { search, searchParams } = new URL(url)
  checkPercentEncoding(search)
  for (const [parameter, value] of searchParams) {
    const name = supported.find((known) => known === parameter)
    if (name === undefined) throw unknownParameter(parameter, supported)
    if (Object.hasOwn(query, name)) throw invalidQuery(`\`${name}\` is repeated. Send it once.`)
    if (value === '') throw invalidQuery(`\`${name}\` is empty. Send a value or leave it out.`)
    query[name] = value
  }
  return query
}

function unknownParameter(name: string, supported: readonly string[]): ApiError {
  const closest = suggest(name, supported)
  const list = supported.length > 0 ? `Supported: ${quoteAll(supported)}.` : 'None is supported.'
  const hint = closest ? `Did you mean ${quote(closest)}?` : list
  return invalidQuery(`${quote(name)} is not a parameter of this endpoint. ${hint}`)
}

/**
 * Checks the percent-encoding of a part of a URL. URL parsers keep a stray `%` and replace invalid
 * UTF-8, so the request would name something else.
 *
 * @throws ApiError `invalid_query`
 */
export function checkPercentEncoding(part: string): void {
  try {
    decodeURIComponent(part)
  } catch {
    throw invalidQuery(
      'Each `%` in the URL must be followed by two hexadecimal digits that encode UTF-8. Write `%` itself as `%25`.',
    )
  }
}

/** The days of a query. */
interface Days {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/**
 * Returns the query if its days `from` and `to` exist and are in order.
 *
 * @throws ApiError `invalid_query`
 */
export function readDays<Q extends Days>(query: Q): Q {
  for (const name of ['from', 'to'] as const) {
    const value = query[name]
    if (value !== undefined) checkDay(name, value)
  }
  if (query.from && query.to && query.from > query.to) {
    throw invalidQuery('`from` must not be after `to`.')
  }
  return query
}

/** The contract: the maximum number of days of control totals. */
const MAX_DAYS = 366

/**
 * Returns the days `from` and `to`, which are both required.
 *
 * @throws ApiError `invalid_query`, also if they span more than 366 days.
 */
export function readDayRange(query: Days): { from: string; to: string } {
  const { from, to } = readDays(query)
  if (!from || !to) {
    throw invalidQuery('`from` and `to` are required: the first and the last day.')
  }
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (days > MAX_DAYS) {
    throw invalidQuery(`\`from\` and \`to\` can span at most ${MAX_DAYS} days.`)
  }
  return { from, to }
}
