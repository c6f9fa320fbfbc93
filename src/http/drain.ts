/** How much of a body is drained: more than the platform accepts. */
const MAX_DRAINED_BYTES = 128 * 1024 * 1024

/** How long a body is drained. A caller that announces a body and sends none still gets a response. */
const MAX_DRAIN_MS = 5000

const BUFFER_BYTES = 16 * 1024

type Chunk = ReadableStreamReadResult<Uint8Array>

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
