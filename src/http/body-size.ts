import { ApiError } from '../errors.ts'
import { LARGE_BODY_BYTES } from './body-budget.ts'
import { malformed } from './body-errors.ts'

/** The contract: the maximum nesting depth. A bulk of records has a depth of two or three. */
export const MAX_DEPTH = 8

/** The detail of the error for a body that nests deeper. */
export const TOO_DEEP = `The body must not nest deeper than ${MAX_DEPTH} levels.`

/** The contract: the maximum number of JSON values. In memory a value takes many times its text. */
const MAX_VALUES = 250_000

/** The maximum number of objects and arrays. Each takes 200 bytes, though `[]` is two characters. */
const MAX_CONTAINERS = 50_000

/** A text within these limits takes little more memory parsed than as text. */
const SMALL_TEXT = 262_144
const MANY_VALUES = 25_000
const MANY_CONTAINERS = 5_000

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Returns whether a JSON text takes so much memory, parsed, that only one such text may be processed
 * at a time. It looks at the text without parsing it, since some kilobytes of gzip can hold millions
 * of arrays.
 *
 * @throws ApiError `payload_too_large` if it has too many values, `malformed_json` if it nests
 * deeper than 8 levels.
 */
export function isLargeJson(text: string): boolean {
  // Two quick searches decide for most texts. Brackets within strings count too, which is harmless.
  if (
    text.length <= SMALL_TEXT &&
    countCharacter('{', text) + countCharacter('[', text) <= MANY_CONTAINERS
  )
    return false
  const { values, containers } = countValues(text)
  return text.length > LARGE_BODY_BYTES || values > MANY_VALUES || containers > MANY_CONTAINERS
}

function countCharacter(char: string, text: string): number {
  let count = 0
  for (let at = text.indexOf(char); at >= 0; at = text.indexOf(char, at + 1)) count += 1
  return count
}

/**
 * Counts the values of a JSON text: the top one, the first of each container that is not empty, and
 * one after each comma.
 */
function countValues(text: string) {
  let values = 1
  let containers = 0
  let depth = 0
  let isAfterOpening = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (char <= SPACE) continue
    const isClosing = char === CLOSE_BRACKET || char === CLOSE_BRACE
    if (isAfterOpening && !isClosing) values += 1
    isAfterOpening = false
    if (char === QUOTE) {
      // Skips to the end of the string: a quote after an odd number of backslashes is part of it.
      do i = text.indexOf('"', i + 1)
      while (i > 0 && isEscaped(text, i))
      if (i < 0) break
    } else if (char === COMMA) values += 1
    else if (char === OPEN_BRACKET || char === OPEN_BRACE) {
      containers += 1
      depth += 1
      isAfterOpening = true
    } else if (isClosing) depth -= 1
    if (depth > MAX_DEPTH) throw malformed(TOO_DEEP)
    if (values > MAX_VALUES) throw tooLarge(`${MAX_VALUES} JSON values`)
    if (containers > MAX_CONTAINERS) throw tooLarge(`${MAX_CONTAINERS} objects and arrays`)
  }
  return { values, containers }
}

const tooLarge = (limit: string) =>
  new ApiError('payload_too_large', {
    detail: `A body can have at most ${limit}. Send fewer records per request.`,
  })

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
  return backslashes % 2 === 1
}
