import { ApiError } from '../errors.ts'
import { LARGE_BODY_BYTES, LargeBodySlot } from './body-budget.ts'
import { malformed } from './body-errors.ts'
import { isLargeJson } from './body-size.ts'

/** The contract: at most 8 MiB once decompressed. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024

/** A body that was read. */
export interface RequestBody {
  /** Whether it is read when it is its turn alone. */
  isLarge: boolean
  /** Its text, once: what it becomes is kept, and memory has no room for both. */
  takeText: () => string
  /** To be called when nothing of it is needed any more. */
  release: () => void
}

/**
 * Reads a request's body: JSON by its type, UTF-8 by its bytes, compressed or not. What is large, as
 * it comes or once it is parsed, waits for its turn, and is only read for who is `grantPromise`.
 *
 * @throws ApiError `unsupported_media_type`, `payload_too_large`, `malformed_json`.
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

  const turn = new LargeBodySlot(grantPromise)
  try {
    // Whole, where its length is said and small: chunk by chunk costs a millisecond more.
    // One that says that it is large waits for its turn before much of it is there.
    const early = length > LARGE_BODY_BYTES ? LARGE_BODY_BYTES / 8 : LARGE_BODY_BYTES
    const read =
      length <= LARGE_BODY_BYTES
        ? readWhole(request)
        : readAll(request.body, turn, early, TRUNCATED)
    const sent = await Promise.race([read, rejectIfRefused(grantPromise)])
    const text = decode(isGzip ? await decompress(sent, turn) : sent)
    const isLarge = isLargeJson(text)
    if (isLarge) await turn.acquire()
    turn.startProcessing()
    return toRequestBody(text, isLarge, turn)
  } catch (error) {
    turn.release()
    throw error
  }
}

function toRequestBody(decoded: string, isLarge: boolean, turn: LargeBodySlot): RequestBody {
  let text = decoded
  return {
    isLarge,
    takeText: () => {
      const taken = text
      text = ''
      return taken
    },
    release: () => turn.release(),
  }
}

/** A refused caller may finish the body, for an answer to reach it; but need not, for so long. */
const REFUSED_BODY_MS = 5000

/** Rejects some time after the gate has refused; for who is grantPromise it never does anything. */
const rejectIfRefused = (grantPromise: Promise<unknown>) =>
  new Promise<never>((_, reject) => {
    grantPromise.catch((error) => scheduler.wait(REFUSED_BODY_MS).then(() => reject(error)))
  })

const TRUNCATED = 'The body ended before its end.'

const readWhole = async (request: Request) => [
  new Uint8Array(await orMalformed(request.arrayBuffer(), TRUNCATED)),
]

/** All chunks of a stream, of at most 8 MiB together; beyond those `free` they wait for their turn. */
async function readAll(
  stream: ReadableStream<Uint8Array>,
  turn: LargeBodySlot,
  free: number,
  fault: string,
): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reader = stream.getReader()
  let isAwaited = false
  try {
    for (;;) {
      isAwaited = true
      const coming = orMalformed(reader.read(), fault)
      const { done, value } = await (bytes > free ? turn.waitFor(coming) : coming)
      isAwaited = false
      if (done) return chunks
      bytes += value.byteLength
      if (bytes > MAX_BODY_BYTES) throw tooLarge()
      if (bytes > free) await turn.acquire()
      turn.received(bytes)
      chunks.push(value)
    }
  } finally {
    // What is left unread of a body is for `everyAnswer` to drain; what still does not come, is not.
    if (isAwaited) reader.cancel().catch(() => {})
    else reader.releaseLock()
  }
}

function decompress(sent: Uint8Array[], turn: LargeBodySlot): Promise<Uint8Array[]> {
  const gunzip = new DecompressionStream('gzip')
  return readAll(new Blob(sent).stream().pipeThrough(gunzip), turn, LARGE_BODY_BYTES, NOT_GZIP)
}

const NOT_GZIP = 'The body is not gzip: one member, and nothing behind it.'

/** What a stream throws is the sender's fault: it was cut, or is not what it was said to be. */
async function orMalformed<T>(read: Promise<T>, detail: string): Promise<T> {
  try {
    return await read
  } catch (error) {
    throw malformed(detail, error)
  }
}

const tooLarge = () =>
  new ApiError('payload_too_large', { detail: 'A body has at most 8 MiB once decompressed.' })

function checkType(header: string) {
  const [type, ...parameters] = header.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  if (type === 'application/json' && /^(charset="?utf-8"?)?$/.test(charset ?? '')) return
  throw new ApiError('unsupported_media_type', { detail: 'Send application/json, in UTF-8.' })
}

/** @see [RFC 7694 §3](https://www.rfc-editor.org/rfc/rfc7694#section-3) what is taken, in a 415 */
function checkEncoding(header: string): boolean {
  const encoding = header.trim().toLowerCase()
  if (encoding === 'gzip' || encoding === 'x-gzip') return true
  if (encoding === 'identity') return false
  throw new ApiError('unsupported_media_type', {
    detail: 'Send the body as it is, or with Content-Encoding: gzip.',
    headers: { 'Accept-Encoding': 'gzip' },
  })
}

function decode(chunks: Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  try {
    const parts = chunks.map((chunk) => decoder.decode(chunk, { stream: true }))
    return parts.join('') + decoder.decode()
  } catch (error) {
    throw malformed('The body is not well-formed UTF-8.', error)
  }
}
