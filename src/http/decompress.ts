import type { BodyMemory } from './body-budget.ts'
import { malformed, tooLarge } from './body-errors.ts'
import { orMalformed, readChunk } from './chunks.ts'

/** How much is decompressed at once: the runtime buffers what comes of it, up to a thousand times as much. */
const GZIP_PIECE_BYTES = 4096

/**
 * Decompresses a gzip stream of up to `limit` bytes once there is memory for what it declares.
 *
 * @throws ApiError `payload_too_large`, `malformed_json`, and the errors of `memory`.
 */
export async function decompress(
  compressed: readonly Uint8Array[],
  limit: number,
  memory: BodyMemory,
): Promise<Uint8Array[]> {
  const declared = declaredLength(compressed)
  await memory.decompress(byteLength(compressed) + Math.min(declared, limit))
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
      if (bytes > limit) throw tooLarge()
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
