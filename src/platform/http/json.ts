import { countSignificantDigits, MAX_SIGNIFICANT_DIGITS } from '../validation/fields.ts'
import { notJson } from '../validation/not-json.ts'
import { malformed } from './body-errors.ts'

/**
 * Parses JSON. A number that is written with more than 15 significant digits, or is too small for a
 * double, becomes NaN: rounded, it would look like a number that nobody sent. `mayBeInexact` must be that
 * of `measureJson`: numbers are only checked if it is true, because the check parses the text again.
 *
 * @throws ApiError `malformed_json` if the text is not JSON. `measureJson` limits its depth.
 */
export function parseJson(text: string, mayBeInexact: boolean): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const isEmpty = text.trim() === ''
    throw malformed(isEmpty ? 'The body is empty.' : `The body is ${notJson(error)}`, error)
  }
  return mayBeInexact ? JSON.parse(text, reviveExactNumber) : value
}

/** @see [JSON.parse source text access](https://github.com/tc39/proposal-json-parse-with-source) */
function reviveExactNumber(_: string, value: unknown, context?: { source: string }) {
  if (typeof value !== 'number' || !context) return value
  const digits = countSignificantDigits(context.source.replace(/[-.]|e.*/gi, ''))
  return digits > MAX_SIGNIFICANT_DIGITS || (value === 0 && digits > 0) ? Number.NaN : value
}
