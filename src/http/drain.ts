/** The maximum number of bytes of a body that are drained: more than the platform accepts. */
const MAX_DRAINED_BYTES = 128 * 1024 * 1024

/** How long a body is drained, in milliseconds. So a caller who announces a body and sends none gets a response. */
const MAX_DRAIN_MS = 5000

const BUFFER_BYTES = 16 * 1024

/**
 * The rate at which an isolate drains all bodies together, since reading 1 MiB takes about 5 ms of CPU
 * time. It drains the first 8 MiB without a wait.
 */
const BYTES_PER_MS = 16 * 1024
const BURST_MS = 512

/** The bytes of one body that are drained between two waits: a timer costs as much CPU time as 32 KiB. */
const LOT_BYTES = 128 * 1024

/** When the isolate will have drained what it has read so far, in milliseconds. */
let drainedAt = 0

/** When the isolate last drained bytes, in milliseconds. */
let seenAt = 0

/** Counts bytes that were drained, and returns how long to wait before the next ones. */
function waitMs(bytes: number, now: number): number {
  // The clock was set back.
  if (now < seenAt) drainedAt = now
  seenAt = now
  drainedAt = Math.max(drainedAt, now - BURST_MS) + bytes / BYTES_PER_MS
  return Math.max(0, drainedAt - now)
}

type Chunk = ReadableStreamReadResult<Uint8Array>

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
    let nextWaitAt = 0
    let chunk: Chunk | null = await Promise.race([pending ?? next(reader), timeout])
    while (chunk && !chunk.done && bytes <= MAX_DRAINED_BYTES) {
      bytes += chunk.value.byteLength
      const wait = waitMs(chunk.value.byteLength, Date.now())
      if (wait > 0 && bytes >= nextWaitAt) {
        nextWaitAt = bytes + LOT_BYTES
        await Promise.race([scheduler.wait(wait), timeout])
      }
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
