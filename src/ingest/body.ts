import { ApiError } from '../errors.ts'
import { LARGE, takeTurn } from './turn.ts'

/** The contract: at most 8 MiB once decompressed. */
export const MAX_BYTES = 8 * 1024 * 1024

/** A body as text, and the function to call when nothing of it is needed any more. */
export interface Body {
  text: string
  release: () => void
}

/**
 * Reads a request's body: JSON by its type, UTF-8 by its bytes, compressed or not.
 *
 * @throws ApiError `unsupported_media_type`, `payload_too_large`, `malformed_json`.
 */
export async function readBody(request: Request): Promise<Body> {
  checkType(request.headers.get('Content-Type') ?? '')
  const stream = decompressed(request)
  const length = Number(request.headers.get('Content-Length') ?? Number.NaN)
  if (length > MAX_BYTES) {
    await request.body?.cancel()
    throw tooLarge()
  }
  let release = length > LARGE ? await takeTurn() : null
  try {
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of stream) {
      bytes += chunk.byteLength
      if (bytes > MAX_BYTES) throw tooLarge()
      if (bytes > LARGE && !release) release = await takeTurn()
      chunks.push(chunk)
    }
    return { text: decode(chunks), release: release ?? (() => {}) }
  } catch (error) {
    release?.()
    throw error instanceof ApiError ? error : malformed('The body cannot be decompressed.', error)
  }
}

/** JSON that cannot be read; `detail` says where, and never what. */
export const malformed = (detail: string, cause?: unknown) =>
  new ApiError('malformed_json', { detail, cause })

const tooLarge = () =>
  new ApiError('payload_too_large', { detail: 'A body has at most 8 MiB once decompressed.' })

function checkType(header: string) {
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  if (type === 'application/json' && /^(charset="?utf-8"?)?$/.test(charset ?? '')) return
  throw new ApiError('unsupported_media_type', { detail: 'Send application/json, in UTF-8.' })
}

/** @see [RFC 7694 §3](https://www.rfc-editor.org/rfc/rfc7694#section-3) what is taken, in a 415 */
function decompressed(request: Request): ReadableStream<Uint8Array> {
  const encoding = (request.headers.get('Content-Encoding') ?? 'identity').trim().toLowerCase()
  if (!request.body) throw malformed('The body is empty.')
  if (encoding === 'identity') return request.body
  if (encoding === 'gzip') return request.body.pipeThrough(new DecompressionStream('gzip'))
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
