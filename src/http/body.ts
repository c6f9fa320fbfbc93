import { ApiError } from '../errors.ts'
import { type AdmissionPromise, BodyMemory, HEAD_BYTES } from './body-budget.ts'
import { malformed, tooLarge } from './body-errors.ts'
import { type BodyFormat, CSV_FORMAT, JSON_FORMAT, type MeasuredBody } from './body-format.ts'
import { MAX_BODY_BYTES } from './body-limit.ts'
import { type Chunk, orMalformed, readChunk } from './chunks.ts'
import { decompress } from './decompress.ts'
import { drainOf, startDraining } from './drain.ts'
import { MAX_WEIGHT } from './memory-queues.ts'

const MIB = 1024 * 1024

/** A request body that has been read. */
export interface RequestBody {
  /** The length of the text. */
  readonly characters: number
  /** Whether the Worker must free the parsed records before it stores their rows: see `BodyWeight`. */
  readonly mustFreeRecords: boolean
  /** Whether `parseJson` must look for numbers that are not exact: see `JsonSize`. */
  readonly mayBeInexact: boolean
  /** Returns the text once, and an empty string after that: memory has no room for both text and result. */
  takeText: () => string
  /** Releases the memory. Call it when the body is no longer needed. */
  release: () => void
}

/**
 * Reads the text of a JSON body, which may be compressed with gzip. While the caller is not yet
 * admitted, it reads at most 64 KiB. It waits until the isolate has memory for the body. `maxDepth` is
 * the maximum nesting depth. It defaults to that of records.
 *
 * @throws ApiError `unsupported_media_type`, `payload_too_large`, `malformed_json`; `unavailable` if
 * there is no memory or the body arrives too slowly; the error of `admission`.
 */
export const readBody = (
  request: Request,
  admission: AdmissionPromise,
  maxDepth?: number,
): Promise<RequestBody> => readBodyAs(JSON_FORMAT, request, admission, maxDepth)

/** Returns the error of a body of another type than these. */
export const unsupportedType = (...types: readonly string[]) =>
  new ApiError('unsupported_media_type', {
    detail: `Send ${types.map((type) => `\`Content-Type: ${type}\``).join(' or ')}, in UTF-8.`,
  })

/** Reads the text of a CSV body of at most 6.5 MiB, with the limits and errors of `readBody`. */
export const readCsvBody = (request: Request, admission: AdmissionPromise): Promise<RequestBody> =>
  readBodyAs(CSV_FORMAT, request, admission)

async function readBodyAs(
  format: BodyFormat,
  request: Request,
  admission: AdmissionPromise,
  maxDepth?: number,
): Promise<RequestBody> {
  const { headers, body } = request
  checkType(headers.get('Content-Type') ?? '', format)
  const isGzip = checkEncoding(headers.get('Content-Encoding') ?? 'identity')
  const length = Number(headers.get('Content-Length') ?? Number.NaN)
  if (!body && format === JSON_FORMAT) throw malformed('The body is empty.')
  if (length > MAX_BODY_BYTES) throw tooLarge()

  const memory = new BodyMemory(admission, { length, isGzip, limit: MAX_BODY_BYTES })
  try {
    await memory.startReading()
    const bytes =
      body && length !== 0 ? await readRequest(request, body, length, memory, admission) : []
    const chunks = isGzip ? await decompress(bytes, MAX_BODY_BYTES, memory) : bytes
    const measured = format.measure(chunks, maxDepth)
    if (measured.weight > MAX_WEIGHT) throw tooMuchMemory(measured.weight)
    await memory.process(measured.weight)
    const text = decode(chunks)
    memory.decoded()
    return toRequestBody(text, measured, memory)
  } catch (error) {
    // A read that has begun keeps its buffer.
    const draining = drainOf(request)
    if (draining) draining.then(() => memory.release())
    else memory.release()
    throw error
  }
}

function toRequestBody(
  decoded: string,
  { mustFreeRecords, mayBeInexact }: MeasuredBody,
  memory: BodyMemory,
): RequestBody {
  let text = decoded
  return {
    characters: decoded.length,
    mustFreeRecords,
    mayBeInexact,
    takeText: () => {
      const taken = text
      text = ''
      return taken
    },
    release: () => memory.release(),
  }
}

/**
 * Returns the chunks of a request. After the first 64 KiB it waits until the caller is admitted and
 * there is memory for the rest. If that fails, it discards what was read and starts to drain it.
 *
 * @throws ApiError `payload_too_large` beyond 8 MiB, `malformed_json` if the body ends early;
 * `unavailable`; the error of `admission`.
 */
async function readRequest(
  request: Request,
  stream: ReadableStream<Uint8Array>,
  length: number,
  memory: BodyMemory,
  admission: AdmissionPromise,
): Promise<Uint8Array[]> {
  const reader = stream.getReader({ mode: 'byob' })
  const chunks: Uint8Array[] = []
  let bytes = 0
  let pending: Promise<Chunk> | undefined
  try {
    for (;;) {
      const chunk = orMalformed(readChunk(reader, length - bytes), 'The body ended early.')
      pending = chunk
      const { done, value } = await memory.waitFor(
        Promise.race([chunk, admission.then(() => chunk)]),
      )
      pending = undefined
      // The lock stays: there is nothing left to drain.
      if (done) return chunks
      chunks.push(value)
      bytes += value.byteLength
      if (bytes > MAX_BODY_BYTES) throw tooLarge()
      if (bytes === length) return chunks
      memory.received(bytes)
      if (bytes >= HEAD_BYTES) await memory.continueReading()
    }
  } catch (error) {
    chunks.length = 0
    memory.discard()
    startDraining(request, reader, pending)
    throw error
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
