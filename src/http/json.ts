import { malformed } from './body-errors.ts'
import { MAX_DEPTH, TOO_DEEP } from './body-size.ts'

/**
 * Without this a number has at most 15 significant digits, and is not too small for a double. Eight
 * of the characters stand one by one: so most of a body is skipped, and the rest is soon looked at.
 */
const MAY_BE_INEXACT = /\d[\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.]{8}|e-\d{3}/i

/**
 * Parses JSON. A number that is written with more than 15 significant digits, or too small for a
 * double, becomes NaN, which JSON cannot say otherwise: rounded it would look like one that nobody
 * sent.
 *
 * @throws ApiError `malformed_json`, also where it nests deeper than 8.
 */
export function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw malformed(text.trim() === '' ? 'The body is empty.' : syntaxErrorDetail(error), error)
  }
  if (isNested(value) && exceedsDepth(value, MAX_DEPTH)) throw malformed(TOO_DEEP)
  return MAY_BE_INEXACT.test(text) ? JSON.parse(text, exactNumber as never) : value
}

/** Where the parser stopped; the rest of its message may quote the body. */
function syntaxErrorDetail(error: unknown): string {
  const [, position] = /at position (\d+)/.exec((error as Error).message) ?? []
  return position === undefined
    ? 'The body is not JSON.'
    : `The body is not JSON from character ${Number(position) + 1} on.`
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

function exceedsDepth(value: object, depth: number): boolean {
  if (depth === 0) return true
  const goesOn = (member: unknown) => isNested(member) && exceedsDepth(member, depth - 1)
  if (Array.isArray(value)) return value.some(goesOn)
  // Without a list of its members, which takes six times as long.
  for (const name in value) if (goesOn(value[name as keyof typeof value])) return true
  return false
}

function exactNumber(_: string, value: unknown, { source }: { source: string }) {
  if (typeof value !== 'number') return value
  const digits = significantDigits(source)
  return digits > 15 || (value === 0 && digits > 0) ? Number.NaN : value
}

/** How many significant digits are written; zeros at either end do not count. */
function significantDigits(source: string): number {
  const mantissa = source.split(/e/i)[0]!
  return mantissa.replace(/[-.]/g, '').replace(/^0+|0+$/g, '').length
}
