import { ApiError } from '../errors.ts'
import { malformed } from './body.ts'

/** The contract: no deeper than this; a bulk of records is two or three deep. */
const MAX_DEPTH = 8
const TOO_DEEP = `The body nests deeper than ${MAX_DEPTH}.`

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Without this a number has at most 15 significant digits, and is not too small for a double. Eight
 * of the characters stand one by one: so most of a body is skipped, and the rest is soon looked at.
 */
const TOO_EXACT = /\d[\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.]{8}|e-\d{3}/i

/**
 * Parses JSON. A number that is written with more than 15 significant digits, or too small for a
 * double, becomes NaN, which JSON cannot say otherwise: rounded it would look like one that nobody
 * sent.
 *
 * @throws ApiError `malformed_json`, also where it nests deeper than 8.
 */
export function parseJson(text: string): unknown {
  if (text.length > SHORT) checkSize(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw malformed(text.trim() === '' ? 'The body is empty.' : placeOf(error), error)
  }
  if (isNested(value) && isDeeper(value, MAX_DEPTH)) throw malformed(TOO_DEEP)
  return TOO_EXACT.test(text) ? JSON.parse(text, exact as never) : value
}

/** Below this no text can hold so much that it would fill the memory. */
const SHORT = 262_144

/** Far more than 1000 records need; each value costs memory many times its two bytes of text. */
const MAX_VALUES = 250_000

/**
 * Refuses a text that would become too many values, or nests too deep, before it is parsed: some
 * kilobytes of gzip can be millions of arrays.
 */
function checkSize(text: string) {
  let values = 0
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === QUOTE) {
      // To the end of the string: a quote that an odd number of backslashes precede is part of it.
      do i = text.indexOf('"', i + 1)
      while (i > 0 && isEscaped(text, i))
      if (i < 0) return
    } else if (char === COMMA) values += 1
    else if (char === OPEN_BRACKET || char === OPEN_BRACE) depth += 1
    else if (char === CLOSE_BRACKET || char === CLOSE_BRACE) depth -= 1
    if (depth > MAX_DEPTH) throw malformed(TOO_DEEP)
    if (values > MAX_VALUES) {
      throw new ApiError('payload_too_large', {
        detail: `A body has at most ${MAX_VALUES} values.`,
      })
    }
  }
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
  return backslashes % 2 === 1
}

/** Where the parser stopped; the rest of its message may quote the body. */
function placeOf(error: unknown): string {
  const [, position] = /at position (\d+)/.exec((error as Error).message) ?? []
  return position === undefined
    ? 'The body is not JSON.'
    : `The body is not JSON from character ${Number(position) + 1} on.`
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null

function isDeeper(value: object, depth: number): boolean {
  if (depth === 0) return true
  const goesOn = (member: unknown) => isNested(member) && isDeeper(member, depth - 1)
  if (Array.isArray(value)) return value.some(goesOn)
  // Without a list of its members, which takes six times as long.
  for (const name in value) if (goesOn(value[name as keyof typeof value])) return true
  return false
}

function exact(_: string, value: unknown, { source }: { source: string }) {
  if (typeof value !== 'number') return value
  const digits = significantDigits(source)
  return digits > 15 || (value === 0 && digits > 0) ? Number.NaN : value
}

/** How many significant digits are written; zeros at either end do not count. */
function significantDigits(source: string): number {
  const mantissa = source.split(/e/i)[0]!
  return mantissa.replace(/[-.]/g, '').replace(/^0+|0+$/g, '').length
}
