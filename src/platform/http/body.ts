import { ApiError } from '../errors.ts'
import { busy, malformed, tooLarge, tooSlow } from './body-errors.ts'
import { MAX_BODY_BYTES } from './body-limit.ts'
import type { JsonSize } from './body-size.ts'
import { measureJson } from './body-size.ts'
import { newDeadline, type Reservation } from './gate.ts'
import { ARRIVING, MAX_WEIGHT, WORKING } from './memory.ts'

/** The memory of the parsed value, its validation and its errors, in bytes. */
const BYTES_PER_VALUE = 160
const BYTES_PER_CONTAINER = 240

/** The memory of the outcome of a record: a body has at most 1000, of which each has a value at least. */
const BYTES_PER_OUTCOME = 800
const MAX_OUTCOMES = 1000

/**
 * What a request counts beside its body, in bytes. It bounds how many small bodies of an account are in process at
 * once: a database works on one after the other, and requests of other accounts wait there.
 */
const REQUEST_BYTES = 256 * 1024

/**
 * Estimates what a body takes in memory at its worst, which is an upper bound for the two times when
 * it takes the most: parsed and validated, or written as JSON for the database.
 */
function weigh({
  bytes,
  values,
  containers,
  escapes,
  isWide,
}: Omit<JsonSize, 'mayBeInexact'>): number {
  const width = isWide ? 2 : 1
  const response = REQUEST_BYTES + Math.min(values, MAX_OUTCOMES) * BYTES_PER_OUTCOME
  const parsed =
    2 * width * bytes + values * BYTES_PER_VALUE + containers * BYTES_PER_CONTAINER + response
  // The rows are JSON, which may hold JSON as text. The request to D1 is JSON that holds the rows,
  // twice if records move: as a string, and as bytes.
  const rows = width * (bytes + escapes)
  const requests = 2 * (width + 1) * (bytes + 3 * escapes)
  return rows + Math.max(parsed, requests)
}

/** The memory that a byte of CSV takes at its worst: in text, in cells and in rows for the database. */
const WEIGHT_PER_CSV_BYTE = 12

/** A format of bodies, and how a body of it is measured before it is decoded. */
interface BodyFormat {
  /** The media type, in lower case. */
  type: string
  measure: (chunks: readonly Uint8Array[], maxDepth?: number) => MeasuredBody
}

/** What is known of a body before it is decoded. */
interface MeasuredBody extends Pick<JsonSize, 'mayBeInexact'> {
  /** What it takes in memory at its worst, in bytes. */
  weight: number
}

/** JSON: its values, nesting and characters decide what it takes in memory. */
const JSON_FORMAT: BodyFormat = {
  type: 'application/json',
  measure: (chunks, maxDepth) => {
    const size = measureJson(chunks, maxDepth)
    return { weight: weigh(size), mayBeInexact: size.mayBeInexact }
  },
}

/** CSV: its weight is a multiple of its bytes. Its numbers stay text, so none is inexact. */
const CSV_FORMAT: BodyFormat = {
  type: 'text/csv',
  measure: (chunks) => {
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
    return { weight: bytes * WEIGHT_PER_CSV_BYTE, mayBeInexact: false }
  },
}

/** The result of a read. It is done at the end of the stream. */
type Chunk = ReadableStreamReadResult<Uint8Array>

/** How much of a body is read at once, in bytes. Smaller chunks take six times the CPU time. */
const CHUNK_BYTES = 64 * 1024

/** Reads a chunk, or all that remains if it is less. */
const readChunk = (reader: ReadableStreamBYOBReader, remaining: number): Promise<Chunk> => {
  const size = remaining < CHUNK_BYTES ? remaining : CHUNK_BYTES
  return reader.readAtLeast(size, new Uint8Array(size))
}

/** Turns an error of a stream into `malformed_json`: the sender cut it off or encoded it wrongly. */
async function orMalformed<T>(reading: Promise<T>, detail: string): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw malformed(detail, error)
  }
}

/** The maximum number of bytes of a body that are drained: more than the platform accepts. */
const MAX_DRAINED_BYTES = 128 * 1024 * 1024

/** How long a body is drained, in milliseconds. So a caller who announces a body and sends none gets a response. */
const MAX_DRAIN_MS = 5000

const BUFFER_BYTES = 16 * 1024

/** The drains, by request. */
const drains = new WeakMap<Request, Promise<void>>()

/** Starts to drain what is left of a request's body. `pending` is a read that has begun. */
export function startDraining(
  request: Request,
  reader: ReadableStreamBYOBReader,
  pending?: Promise<Chunk>,
): void {
  drains.set(request, drain(reader, pending))
}

/** Returns the drain of a request that was refused before its body was read; undefined if there is none. */
export const drainOf = (request: Request): Promise<void> | undefined => drains.get(request)

/**
 * Reads the rest of a body and discards it: an unread body breaks the connection, and the caller
 * loses the response. `pending` is a read that has begun.
 */
export async function drain(
  reader: ReadableStreamBYOBReader,
  pending?: Promise<Chunk>,
): Promise<void> {
  let timer: number | null = null
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), MAX_DRAIN_MS)
  })
  try {
    let bytes = 0
    let chunk: Chunk | null = await Promise.race([pending ?? next(reader), timeout])
    while (chunk && !chunk.done && bytes <= MAX_DRAINED_BYTES) {
      bytes += chunk.value.byteLength
      chunk = await Promise.race([next(reader, chunk.value.buffer), timeout])
    }
  } catch {
    // The caller has disconnected.
  } finally {
    clearTimeout(timer)
    reader.cancel().catch(() => {})
  }
}

const next = (
  reader: ReadableStreamBYOBReader,
  buffer: ArrayBufferLike = new ArrayBuffer(BUFFER_BYTES),
): Promise<Chunk> => reader.read(new Uint8Array(buffer))

/** How much is decompressed at once: the runtime buffers what comes of it, up to a thousand times as much. */
const GZIP_PIECE_BYTES = 4096

/**
 * Decompresses a gzip stream, and gives back what it declares not to need of the memory that is reserved.
 *
 * @throws ApiError `payload_too_large`, `malformed_json`
 */
async function decompress(
  compressed: readonly Uint8Array[],
  reserved: Reservation,
): Promise<Uint8Array[]> {
  const declared = declaredLength(compressed)
  reserved.size = byteLength(compressed) + Math.min(declared, MAX_BODY_BYTES)
  const { readable, writable } = new DecompressionStream('gzip')
  const writing = writePieces(writable, compressed)
  writing.catch(() => {}) // The reader fails likewise.
  const reader = readable.getReader({ mode: 'byob' })
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await orMalformed(readChunk(reader, Number.NaN), NOT_GZIP)
      if (done) return chunks
      chunks.push(value)
      bytes += value.byteLength
      if (bytes > MAX_BODY_BYTES) throw tooLarge()
      if (bytes > declared) throw malformed(NOT_GZIP)
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

async function writePieces(writable: WritableStream, chunks: readonly Uint8Array[]) {
  const writer = writable.getWriter()
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; at += GZIP_PIECE_BYTES) {
      await writer.write(chunk.subarray(at, at + GZIP_PIECE_BYTES))
    }
  }
  await writer.close()
}

const byteLength = (chunks: readonly Uint8Array[]) =>
  chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)

/**
 * Returns the decompressed length that a gzip stream declares in its last four bytes.
 *
 * @see [RFC 1952 §2.3.1](https://www.rfc-editor.org/rfc/rfc1952#section-2.3.1) ISIZE
 */
function declaredLength(chunks: readonly Uint8Array[]): number {
  const end = chunks.slice(-2).flatMap((chunk) => [...chunk.slice(-4)])
  return end.slice(-4).reduceRight((value, byte) => value * 256 + byte, 0)
}

const NOT_GZIP = 'The body is not valid gzip. Send a single gzip member with nothing after it.'

const MIB = 1024 * 1024

/** A request body that has been read. */
export interface RequestBody {
  /** Whether `parseJson` must look for numbers that are not exact: see `JsonSize`. */
  readonly mayBeInexact: boolean
  /** Returns the text once, and an empty string after that: memory has no room for both text and result. */
  takeText: () => string
  /** The memory of the body. Release it when the body is no longer needed. */
  readonly memory: Reservation
}

/**
 * Reads the text of a JSON body, which may be compressed with gzip, once the isolate has memory for it. `maxDepth` is
 * the maximum nesting depth. It defaults to that of records.
 *
 * @throws ApiError `unsupported_media_type`, `payload_too_large`, `malformed_json`; `unavailable` if
 * there is no memory or the body arrives too slowly.
 */
export const readBody = (
  request: Request,
  account: string,
  maxDepth?: number,
): Promise<RequestBody> => readBodyAs(JSON_FORMAT, request, account, maxDepth)

/** Returns the error of a body of another type than these. */
const unsupportedType = (...types: readonly string[]) =>
  new ApiError('unsupported_media_type', {
    detail: `Send ${types.map((type) => `\`Content-Type: ${type}\``).join(' or ')}, in UTF-8.`,
  })

/**
 * Reads the text of a CSV body of at most 6.5 MiB, with the limits of `readBody` and its errors, but
 * `invalid_request` instead of `malformed_json`.
 */
export const readCsvBody = (request: Request, account: string): Promise<RequestBody> =>
  readBodyAs(CSV_FORMAT, request, account).catch((error: unknown) => {
    const isMalformed = error instanceof ApiError && error.code === 'malformed_json'
    throw isMalformed ? new ApiError('invalid_request', error.details) : error
  })

async function readBodyAs(
  format: BodyFormat,
  request: Request,
  account: string,
  maxDepth?: number,
): Promise<RequestBody> {
  const { headers, body } = request
  checkType(headers.get('Content-Type') ?? '', format)
  const isGzip = checkEncoding(headers.get('Content-Encoding') ?? 'identity')
  const length = announcedLength(request)
  if (!body && format === JSON_FORMAT) throw malformed('The body is empty.')
  if (length > MAX_BODY_BYTES) throw tooLarge()

  const deadline = newDeadline()
  const arriving = await ARRIVING.reserve(account, sizeOf(length, isGzip), busy, deadline)
  try {
    const bytes = body && length !== 0 ? await readRequest(request, body, length, deadline) : []
    const chunks = isGzip ? await decompress(bytes, arriving) : bytes
    const measured = format.measure(chunks, maxDepth)
    if (measured.weight > MAX_WEIGHT) throw tooMuchMemory(measured.weight)
    const memory = await WORKING.reserve(account, measured.weight, busy, deadline)
    try {
      return toRequestBody(decode(chunks), measured, memory)
    } catch (error) {
      memory.release()
      throw error
    }
  } finally {
    arriving.release()
  }
}

/** Returns the length that a request announces, in bytes; NaN if it does not. */
function announcedLength({ headers }: Request): number {
  const announced = headers.get('Content-Length') ?? ''
  // Beside `Transfer-Encoding: chunked` the runtime lets any text pass.
  return /^\d+$/.test(announced) ? Number(announced) : Number.NaN
}

/**
 * Reads a body as it is, whatever its type.
 *
 * @throws ApiError `payload_too_large` beyond `maxBytes`, `unavailable`, `malformed_json`
 */
export async function readFileBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const { body } = request
  const length = announcedLength(request)
  if (length > maxBytes) throw tooLarge(maxBytes)
  const deadline = newDeadline()
  const arriving = await ARRIVING.reserve('', length || maxBytes, busy, deadline)
  try {
    const isEmpty = !body || length === 0
    const chunks = isEmpty ? [] : await readRequest(request, body, length, deadline, maxBytes)
    return new Uint8Array(await new Blob(chunks).arrayBuffer())
  } finally {
    arriving.release()
  }
}

/** Deflate makes a text at most this many times smaller. */
const MAX_DEFLATE_RATIO = 1032

/** Returns the memory of a body that arrives, in bytes, from its announced length (NaN if it is not known). */
function sizeOf(length: number, isGzip: boolean): number {
  const sent = Number.isNaN(length) ? MAX_BODY_BYTES : length
  return sent + (isGzip ? Math.min(MAX_BODY_BYTES, MAX_DEFLATE_RATIO * sent) : 0)
}

function toRequestBody(
  decoded: string,
  { mayBeInexact }: MeasuredBody,
  memory: Reservation,
): RequestBody {
  let text = decoded
  return {
    mayBeInexact,
    takeText: () => {
      const taken = text
      text = ''
      return taken
    },
    memory,
  }
}

/**
 * Returns the chunks of a request. If that fails, it discards what was read and starts to drain the rest.
 *
 * @throws ApiError `payload_too_large` beyond `maxBytes`, `malformed_json` if the body ends early, `unavailable` if it
 * does not arrive until `deadline` (milliseconds).
 */
async function readRequest(
  request: Request,
  stream: ReadableStream<Uint8Array>,
  length: number,
  deadline: number,
  maxBytes?: number,
): Promise<Uint8Array[]> {
  const reader = stream.getReader({ mode: 'byob' })
  let timer: number | null = null
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), deadline - Date.now())
  })
  const chunks: Uint8Array[] = []
  let bytes = 0
  let pending: Promise<Chunk> | undefined
  try {
    for (;;) {
      const chunk = orMalformed(readChunk(reader, length - bytes), 'The body ended early.')
      pending = chunk
      const { done, value } = await Promise.race([chunk, late])
      pending = undefined
      // The lock stays: there is nothing left to drain.
      if (done) break
      chunks.push(value)
      bytes += value.byteLength
      if (bytes > (maxBytes ?? MAX_BODY_BYTES)) throw tooLarge(maxBytes)
      if (bytes === length) break
    }
    return chunks
  } catch (error) {
    chunks.length = 0
    startDraining(request, reader, pending)
    throw error
  } finally {
    clearTimeout(timer)
  }
}

const tooMuchMemory = (weight: number) =>
  new ApiError('payload_too_large', {
    detail: `The records would take ${Math.ceil(weight / MIB)} MiB of memory to store, and a body can take at most ${MAX_WEIGHT / MIB} MiB. Quotes, backslashes and characters beyond Latin-1 take the most. Send fewer records per request.`,
  })

function checkType(header: string, { type: expected }: BodyFormat) {
  const [type, ...parameters] = header.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  if (type === expected && /^(charset="?utf-8"?)?$/.test(charset ?? '')) return
  throw unsupportedType(expected)
}

/**
 * Returns whether the body is compressed with gzip.
 *
 * @see [RFC 7694 §3](https://www.rfc-editor.org/rfc/rfc7694#section-3) `Accept-Encoding` of a 415
 * @throws ApiError `unsupported_media_type` for any other encoding.
 */
function checkEncoding(header: string): boolean {
  const encoding = header.trim().toLowerCase()
  if (encoding === 'gzip' || encoding === 'x-gzip') return true
  if (encoding === 'identity') return false
  throw new ApiError('unsupported_media_type', {
    detail: 'Send the body uncompressed or with `Content-Encoding: gzip`.',
    headers: { 'Accept-Encoding': 'gzip' },
  })
}

function decode(chunks: Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  try {
    const parts = chunks.map((chunk) => decoder.decode(chunk, { stream: true }))
    return parts.join('') + decoder.decode()
  } catch (error) {
    throw malformed('The body is not valid UTF-8.', error)
  }
}
