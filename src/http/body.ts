import { ApiError } from '../errors.ts'
import { LARGE_BODY_BYTES, LargeBodySlot } from './body-budget.ts'
import { malformed } from './body-errors.ts'
import { isLargeJson } from './body-size.ts'

/** The contract: the maximum size of a decompressed body, 8 MiB. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024

/** A request body that has been read. */
export interface RequestBody {
  /** Whether it holds the slot for large bodies. */
  isLarge: boolean
  /** Returns the text once, and an empty string after that: memory has no room for both text and result. */
  takeText: () => string
  /** Frees the slot for large bodies. Call it when nothing of the body is needed any more. */
  release: () => void
}

/**
 * Reads the text of a JSON body, which may be compressed with gzip. A large body waits until the
 * isolate's large-body slot is free. The slot is given only to authorized callers.
 *
 * @throws ApiError `unsupported_media_type`, `payload_too_large`, `malformed_json`; `unavailable` if
 * a large body arrives too slowly.
 */
export async function readBody(
  request: Request,
  grantPromise: Promise<unknown>,
): Promise<RequestBody> {
  checkType(request.headers.get('Content-Type') ?? '')
  const isGzip = checkEncoding(request.headers.get('Content-Encoding') ?? 'identity')
  const length = Number(request.headers.get('Content-Length') ?? Number.NaN)
  if (!request.body) throw malformed('The body is empty.')
  if (length > MAX_BODY_BYTES) throw tooLarge()

  const slot = new LargeBodySlot(grantPromise)
  try {
    // A body with a small Content-Length is read at once: chunk by chunk takes a millisecond more.
    // A body with a large one waits for the slot before much of it is in memory.
    const freeBytes = length > LARGE_BODY_BYTES ? LARGE_BODY_BYTES / 8 : LARGE_BODY_BYTES
    const reading =
      length <= LARGE_BODY_BYTES
        ? readAtOnce(request)
        : readChunks(request.body, slot, freeBytes, TRUNCATED)
    const chunks = await Promise.race([reading, rejectIfRefused(grantPromise)])
    const text = decode(isGzip ? await decompress(chunks, slot) : chunks)
    const isLarge = isLargeJson(text)
    if (isLarge) await slot.acquire()
    slot.startProcessing()
    return toRequestBody(text, isLarge, slot)
  } catch (error) {
    slot.release()
    throw error
  }
}

function toRequestBody(decoded: string, isLarge: boolean, slot: LargeBodySlot): RequestBody {
  let text = decoded
  return {
    isLarge,
    takeText: () => {
      const taken = text
      text = ''
      return taken
    },
    release: () => slot.release(),
  }
}

/**
 * How long to keep reading a refused caller's body, so that the caller can receive the error, in
 * milliseconds.
 */
const REFUSED_BODY_MS = 5000

/** Rejects some time after `grantPromise` has rejected; never settles if it resolves. */
const rejectIfRefused = (grantPromise: Promise<unknown>) =>
  new Promise<never>((_, reject) => {
    grantPromise.catch((error) => scheduler.wait(REFUSED_BODY_MS).then(() => reject(error)))
  })

const TRUNCATED = 'The body ended early.'

const readAtOnce = async (request: Request) => [
  new Uint8Array(await orMalformed(request.arrayBuffer(), TRUNCATED)),
]

/**
 * Returns the chunks of a stream. After the first `freeBytes` it needs the slot for large bodies.
 *
 * @throws ApiError `payload_too_large` beyond 8 MiB, `malformed_json` with `fault` if the stream fails.
 */
async function readChunks(
  stream: ReadableStream<Uint8Array>,
  slot: LargeBodySlot,
  freeBytes: number,
  fault: string,
): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reader = stream.getReader()
  let isReading = false
  try {
    for (;;) {
      isReading = true
      const chunk = orMalformed(reader.read(), fault)
      const { done, value } = await (bytes > freeBytes ? slot.waitFor(chunk) : chunk)
      isReading = false
      if (done) return chunks
      bytes += value.byteLength
      if (bytes > MAX_BODY_BYTES) throw tooLarge()
      if (bytes > freeBytes) await slot.acquire()
      slot.received(bytes)
      chunks.push(value)
    }
  } finally {
    // `requestLog` drains the rest of a body. It cannot if a read is pending, so that is cancelled.
    if (isReading) reader.cancel().catch(() => {})
    else reader.releaseLock()
  }
}

function decompress(chunks: Uint8Array[], slot: LargeBodySlot): Promise<Uint8Array[]> {
  const gunzip = new DecompressionStream('gzip')
  return readChunks(new Blob(chunks).stream().pipeThrough(gunzip), slot, LARGE_BODY_BYTES, NOT_GZIP)
}

const NOT_GZIP = 'The body is not valid gzip. Send a single gzip member with nothing after it.'

/** Turns an error of a stream into `malformed_json`: the sender cut it off or encoded it wrongly. */
async function orMalformed<T>(reading: Promise<T>, detail: string): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw malformed(detail, error)
  }
}

const tooLarge = () =>
  new ApiError('payload_too_large', {
    detail: 'A body can have at most 8 MiB once decompressed. Send fewer records per request.',
  })

function checkType(header: string) {
  const [type, ...parameters] = header.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  if (type === 'application/json' && /^(charset="?utf-8"?)?$/.test(charset ?? '')) return
  throw new ApiError('unsupported_media_type', {
    detail: 'Send `Content-Type: application/json`, in UTF-8.',
  })
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
