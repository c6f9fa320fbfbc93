import { ApiError } from '../errors.ts'
import { MAX_SIGNIFICANT_DIGITS } from '../validation/fields.ts'
import { malformed } from './body-errors.ts'

/** The contract: the maximum nesting depth. A bulk of records has a depth of two or three. */
const MAX_DEPTH = 8

/** The contract: the maximum number of JSON values. In memory a value takes many times its text. */
const MAX_VALUES = 250_000

/** The maximum number of objects and arrays. Each weighs `BYTES_PER_CONTAINER`, though `[]` is two characters. */
const MAX_CONTAINERS = 50_000

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const POINT = 0x2e
const NINE = 0x39
const LETTER_E = 0x65
/** The bit by which a lower-case letter differs from its capital letter. */
const LOWER_CASE_BIT = 0x20
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const LETTER_U = 0x75
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** The lowest UTF-8 lead byte of characters above U+00FF (Latin-1). */
const BEYOND_LATIN_1 = 0xc4

/** What decides how much memory a JSON text takes. */
export interface JsonSize {
  bytes: number
  /** The top value, the members of all objects, and the elements of all arrays. */
  values: number
  /** Objects and arrays. */
  containers: number
  /** Quotes and backslashes: each becomes two characters whenever text is written within text. */
  escapes: number
  /** Whether a character may be beyond Latin-1: then V8 stores each character of a text in two bytes. */
  isWide: boolean
  /**
   * Whether a number may lose digits when it is parsed: it has an exponent, or more than 15 characters
   * that are digits or a point.
   */
  mayBeInexact: boolean
}

/**
 * Measures a JSON text in UTF-8 without parsing it, since some kilobytes of gzip can hold millions
 * of arrays.
 *
 * @throws ApiError `payload_too_large` if it has too many values, `malformed_json` if it nests
 * deeper than `maxDepth` levels.
 */
export function measureJson(chunks: readonly Uint8Array[], maxDepth = MAX_DEPTH): JsonSize {
  const counts = { bytes: 0, values: 1, containers: 0, escapes: 0 }
  const size: JsonSize = { ...counts, isWide: false, mayBeInexact: false }
  const start = { depth: 0, digits: 0, isAfterOpening: false, isInString: false, isEscaped: false }
  const state: ScanState = { ...start, maxDepth }
  for (const chunk of chunks) {
    size.bytes += chunk.byteLength
    scan(chunk, size, state)
  }
  return size
}

/** Where a scan is between two chunks. */
interface ScanState {
  readonly maxDepth: number
  depth: number
  /** The number of digits and points just before: those of the number that is being read. */
  digits: number
  isAfterOpening: boolean
  isInString: boolean
  isEscaped: boolean
}

/** Adds a chunk to `size`. A value is counted after each comma, and at the start of a container. */
function scan(chunk: Uint8Array, size: JsonSize, state: ScanState): void {
  // Most bytes are counted in local variables: properties take a quarter longer.
  let { depth, digits, isAfterOpening } = state
  let { values } = size
  let quotes = 0
  let i = state.isInString ? skipString(chunk, 0, size, state) : 0
  while (i < chunk.length) {
    const byte = chunk[i]!
    i += 1
    if (byte <= SPACE) continue
    const isClosing = byte === CLOSE_BRACKET || byte === CLOSE_BRACE
    if (isAfterOpening && !isClosing) values += 1
    isAfterOpening = false
    // The range also has the code of `/`, which no JSON has outside of text.
    if (byte >= POINT && byte <= NINE) {
      digits += 1
      if (digits > MAX_SIGNIFICANT_DIGITS) size.mayBeInexact = true
      continue
    }
    if (byte === QUOTE) {
      quotes += 2
      i = skipString(chunk, i, size, state)
    } else if (byte === COMMA) values += 1
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      size.containers += 1
      isAfterOpening = true
      if (++depth > state.maxDepth) throw tooDeep(state)
      if (size.containers > MAX_CONTAINERS) throw tooMany(`${MAX_CONTAINERS} objects and arrays`)
    } else if (isClosing) depth -= 1
    else if (digits > 0 && (byte | LOWER_CASE_BIT) === LETTER_E) size.mayBeInexact = true
    if (values > MAX_VALUES) throw tooMany(`${MAX_VALUES} JSON values`)
    digits = 0
  }
  Object.assign(state, { depth, digits, isAfterOpening })
  size.values = values
  size.escapes += quotes
}

/**
 * Adds the rest of a string to `size`, but not the quotes around it. Returns the position after it, or the end of
 * the chunk.
 */
function skipString(chunk: Uint8Array, from: number, size: JsonSize, state: ScanState): number {
  let i = from
  if (state.isEscaped && i < chunk.length) {
    addEscaped(chunk[i]!, size)
    state.isEscaped = false
    i += 1
  }
  for (; i < chunk.length; i++) {
    const byte = chunk[i]!
    if (byte === QUOTE) {
      state.isInString = false
      return i + 1
    }
    if (byte === BACKSLASH) {
      size.escapes += 1
      i += 1
      if (i < chunk.length) addEscaped(chunk[i]!, size)
      else state.isEscaped = true
    } else if (byte >= BEYOND_LATIN_1) size.isWide = true
  }
  state.isInString = true
  return chunk.length
}

/** Adds the character after a backslash. */
function addEscaped(byte: number, size: JsonSize): void {
  if (byte === LETTER_U) size.isWide = true
  else if (byte === QUOTE || byte === BACKSLASH) size.escapes += 1
}

const tooDeep = ({ maxDepth }: ScanState) =>
  malformed(`The body must not nest deeper than ${maxDepth} levels.`)

const tooMany = (limit: string) =>
  new ApiError('payload_too_large', {
    detail: `A body can have at most ${limit}. Send fewer records per request.`,
  })
