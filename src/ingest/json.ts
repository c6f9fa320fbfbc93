import { malformed } from './body.ts'

/** The contract: no deeper than this; a bulk of records is two or three deep. */
const MAX_DEPTH = 8

/** A number with fewer characters than this cannot have more than 15 significant digits. */
const LONG_NUMBER = /\d[\d.]{15}/

/**
 * Parses JSON. A number that is written with more than 15 significant digits becomes NaN, which
 * JSON cannot say otherwise: rounded to a double it would look like one that nobody sent.
 *
 * @throws ApiError `malformed_json`, also where it nests deeper than 8.
 */
export function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw malformed(text.trim() === '' ? 'The body is empty.' : placeOf(error), error)
  }
  if (isDeeper(value, MAX_DEPTH)) throw malformed(`The body nests deeper than ${MAX_DEPTH}.`)
  return LONG_NUMBER.test(text) ? JSON.parse(text, exact as never) : value
}

/** Where the parser stopped; the rest of its message may quote the body. */
function placeOf(error: unknown): string {
  const [, position] = /at position (\d+)/.exec((error as Error).message) ?? []
  return position === undefined
    ? 'The body is not JSON.'
    : `The body is not JSON from character ${Number(position) + 1} on.`
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth === 0) return true
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]
    if (typeof member === 'object' && member !== null && isDeeper(member, depth - 1)) return true
  }
  return false
}

const exact = (_: string, value: unknown, { source }: { source: string }) =>
  typeof value === 'number' && significantDigits(source) > 15 ? Number.NaN : value

/** How many significant digits are written; zeros at either end do not count. */
function significantDigits(source: string): number {
  const [mantissa = ''] = source.split(/e/i)
  return mantissa.replace(/[-.]/g, '').replace(/^0+|0+$/g, '').length
}
