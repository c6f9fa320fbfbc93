import { ApiError } from '../errors.ts'
import { LARGE_BODY_BYTES } from './body-budget.ts'
import { malformed } from './body-errors.ts'

/** The contract: no deeper than this; a bulk of records is two or three deep. */
export const MAX_DEPTH = 8
/** What is said of what nests deeper. */
export const TOO_DEEP = `The body nests deeper than ${MAX_DEPTH}.`

/** Far more than 1000 records need; each value costs memory many times its two bytes of text. */
const MAX_VALUES = 250_000

/** Objects and lists among them: one costs 200 bytes, though it is said in two. */
const MAX_NESTED = 50_000

/** Below these, a text takes little more memory parsed than it does as text. */
const SMALL_TEXT = 262_144
const MANY_VALUES = 25_000
const MANY_NESTED = 5_000

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Whether a text would take so much memory, parsed, that one such must wait for another.
 *
 * @throws ApiError `payload_too_large` where it would be more than there is: some kilobytes of gzip
 * can be millions of arrays; `malformed_json` where it nests deeper than 8.
 */
export function isLargeJson(text: string): boolean {
  // Most are weighed by two quick searches; what stands in a string is counted, too, and then not.
  if (
    text.length <= SMALL_TEXT &&
    countCharacter('{', text) + countCharacter('[', text) <= MANY_NESTED
  )
    return false
  const { values, nested } = countValues(text)
  return text.length > LARGE_BODY_BYTES || values > MANY_VALUES || nested > MANY_NESTED
}

function countCharacter(char: string, text: string): number {
  let found = 0
  for (let at = text.indexOf(char); at >= 0; at = text.indexOf(char, at + 1)) found += 1
  return found
}

function countValues(text: string) {
  let values = 0
  let nested = 0
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char === QUOTE) {
      // To the end of the string: a quote that an odd number of backslashes precede is part of it.
      do i = text.indexOf('"', i + 1)
      while (i > 0 && isEscaped(text, i))
      if (i < 0) break
    } else if (char === COMMA) values += 1
    else if (char === OPEN_BRACKET || char === OPEN_BRACE) {
      values += 1
      nested += 1
      depth += 1
    } else if (char === CLOSE_BRACKET || char === CLOSE_BRACE) depth -= 1
    if (depth > MAX_DEPTH) throw malformed(TOO_DEEP)
    if (values > MAX_VALUES) throw tooLarge(`${MAX_VALUES} values`)
    if (nested > MAX_NESTED) throw tooLarge(`${MAX_NESTED} objects and lists`)
  }
  return { values, nested }
}

const tooLarge = (most: string) =>
  new ApiError('payload_too_large', { detail: `A body has at most ${most}.` })

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
  return backslashes % 2 === 1
}
