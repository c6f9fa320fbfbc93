import type { Context } from 'hono'
import { waitAndCheck } from './wait-and-check.ts'
import type { Lease, WeightedQueue } from './weighted-queue.ts'

/** How much of a response is handed to the connection at once. */
const PIECE_BYTES = 64 * 1024

/** How long a client may take to begin, and the rate that it must then keep while others wait. */
const GRACE_MS = 2000
const MIN_BYTES_PER_MS = 256

/** How long a client may read nothing, even if no other request waits. */
const MAX_STALL_MS = 30_000

/** How long reading from the database may take before it counts as lost. */
const LEASE_MS = 30_000

/** A response that is being sent, and the lease of its memory; null if there was no room for one. */
export class Sending {
  readonly #queue: WeightedQueue
  readonly #lease: Lease | null
  #since = Date.now()
  #progressAt = 0

  constructor(queue: WeightedQueue, lease: Lease | null) {
    this.#queue = queue
    this.#lease = lease
    this.sent(0)
  }

  /** Extends the lease to the time that the client may take for this many bytes in total. */
  sent(bytes: number): void {
    this.#progressAt = Date.now()
    if (this.#lease) this.#lease.until = this.#since + GRACE_MS + bytes / MIN_BYTES_PER_MS
  }

  /**
   * Waits until the client has taken a piece of the response.
   *
   * @throws Error if the lease is revoked meanwhile, or if the client takes nothing for 30 seconds.
   */
  waitFor(writing: Promise<void>): Promise<void> {
    return waitAndCheck(writing, () => {
      if (this.#lease && !this.#queue.isReserved(this.#lease)) throw new Error('Others wait')
      if (Date.now() - this.#progressAt >= MAX_STALL_MS) throw new Error('The client reads nothing')
    })
  }

  /** Waits for more rows of the response: that is not the client's time. */
  async readMore<T>(reading: Promise<T>): Promise<T> {
    const start = Date.now()
    if (this.#lease) this.#lease.until = start + LEASE_MS
    try {
      return await reading
    } finally {
      this.#progressAt = Date.now()
      this.#since += this.#progressAt - start
    }
  }

  /** Releases the lease. */
  release(): void {
    if (this.#lease) this.#queue.release(this.#lease)
  }
}

/**
 * Starts to send a response in pieces, and returns the stream. The memory is released once the client
 * has received the response, or once the connection is cut because the client is too slow.
 */
export function sendBytes(c: Context, bytes: Uint8Array, sending: Sending): ReadableStream {
  const { readable, writable } = new FixedLengthStream(bytes.byteLength)
  // The memory is also released if the client disconnects.
  c.executionCtx.waitUntil(writePieces(bytes, writable.getWriter(), sending))
  return readable
}

async function writePieces(
  bytes: Uint8Array,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  sending: Sending,
): Promise<void> {
  try {
    for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES)
      await sending.waitFor(writer.write(piece))
      sending.sent(at + piece.byteLength)
    }
    await writer.close()
  } catch (error) {
    // The client is too slow, or it has disconnected.
    writer.abort(error).catch(() => {})
  } finally {
    sending.release()
  }
}
