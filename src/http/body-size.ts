import { ApiError } from '../errors.ts'
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
}

/**
 * Measures a JSON text in UTF-8 without parsing it, since some kilobytes of gzip can hold millions
 * of arrays.
 *
 * @throws ApiError `payload_too_large` if it has too many values, `malformed_json` if it nests
 * deeper than `maxDepth` levels.
 */
export function measureJson(chunks: readonly Uint8Array[], maxDepth = MAX_DEPTH): JsonSize {
  const size: JsonSize = { bytes: 0, values: 1, containers: 0, escapes: 0, isWide: false }
  const start = { depth: 0, isAfterOpening: false, isInString: false, isEscaped: false }
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
  isAfterOpening: boolean
  isInString: boolean
  isEscaped: boolean
}

/** Adds a chunk to `size`. A value is counted after each comma, and at the start of a container. */
function scan(chunk: Uint8Array, size: JsonSize, state: ScanState): void {
  let { depth, isAfterOpening } = state
  for (let i = state.isInString ? skipString(chunk, 0, size, state) : 0; i < chunk.length; i++) {
    const byte = chunk[i]!
    if (byte <= SPACE) continue
    const isClosing = byte === CLOSE_BRACKET || byte === CLOSE_BRACE
    if (isAfterOpening && !isClosing) size.values += 1
    isAfterOpening = false
    if (byte === QUOTE) {
      size.escapes += 1
      state.isInString = true
      i = skipString(chunk, i + 1, size, state) - 1
    } else if (byte === COMMA) size.values += 1
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      size.containers += 1
      isAfterOpening = true
      if (++depth > state.maxDepth) throw tooDeep(state)
      if (size.containers > MAX_CONTAINERS) throw tooMany(`${MAX_CONTAINERS} objects and arrays`)
    } else if (isClosing) depth -= 1
    if (size.values > MAX_VALUES) throw tooMany(`${MAX_VALUES} JSON values`)
  }
  Object.assign(state, { depth, isAfterOpening })
}

/** Adds the rest of a string to `size`. Returns the position after it, or the end of the chunk. */
function skipString(chunk: Uint8Array, from: number, size: JsonSize, state: ScanState): number {
  for (let i = from; i < chunk.length; i++) {
    const byte = chunk[i]!
    if (state.isEscaped) {
      state.isEscaped = false
      if (byte === LETTER_U) size.isWide = true
      else if (byte === QUOTE || byte === BACKSLASH) size.escapes += 1
    } else if (byte === BACKSLASH) {
      size.escapes += 1
      state.isEscaped = true
    } else if (byte === QUOTE) {
      size.escapes += 1
      state.isInString = false
      return i + 1
    } else if (byte >= BEYOND_LATIN_1) size.isWide = true
  }
  return chunk.length
}

const tooDeep = ({ maxDepth }: ScanState) =>
  malformed(`The body must not nest deeper than ${maxDepth} levels.`)

const tooMany = (limit: string) =>
  new ApiError('payload_too_large', {
    detail: `A body can have at most ${limit}. Send fewer records per request.`,
  })

/** The memory of the parsed value, its validation and its errors, in bytes. */
const BYTES_PER_VALUE = 160
const BYTES_PER_CONTAINER = 240

/** The memory of a request beside its body, in bytes. */
const REQUEST_BYTES = 4096

/** Above this weight the Worker frees the parsed records, but for what the response needs. */
const FREES_RECORDS_WEIGHT = 12 * 1024 * 1024

/** What a body takes in memory at its worst. */
export interface BodyWeight {
  /** Bytes. */
  weight: number
  /**
   * Whether the Worker must free the parsed records before it stores their rows, because memory has no
   * room for both.
   */
  mustFreeRecords: boolean
}

/**
 * Estimates what a body takes in memory at its worst, which is an upper bound for the two times when
 * it takes the most: parsed and validated, or written as JSON for the database.
 */
export function weigh({ bytes, values, containers, escapes, isWide }: JsonSize): BodyWeight {
  const width = isWide ? 2 : 1
  const parsed =
    2 * width * bytes + values * BYTES_PER_VALUE + containers * BYTES_PER_CONTAINER + REQUEST_BYTES
  // The rows are JSON, which may hold JSON as text. The request to D1 is JSON that holds the rows,
  // twice if records move: as a string, and as bytes.
  const rows = width * (bytes + escapes)
  const requests = 2 * (width + 1) * (bytes + 3 * escapes)
  const both = parsed + rows + requests
  const mustFreeRecords = both > FREES_RECORDS_WEIGHT
  return {
    weight: mustFreeRecords ? Math.max(parsed + rows, rows + requests) : both,
    mustFreeRecords,
  }
}
