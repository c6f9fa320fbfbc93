import type { Context } from 'hono'
import { unreadResults } from './body-errors.ts'
import { QUEUES } from './memory-queues.ts'
import { SMALL_RESPONSE_BYTES } from './read-memory.ts'
import { Sending, sendBytes } from './sending.ts'
import type { Lease } from './weighted-queue.ts'

/** How long a delivery may take to be stored before it counts as lost. */
const LEASE_MS = 30_000

/** The memory of the responses to deliveries of many records. */
const memories = new WeakMap<Request, ResultMemory>()

/**
 * Waits until there is room for a response of about this many bytes, unless it is small.
 *
 * @throws ApiError `unavailable` after 20 seconds, or at once if four deliveries of the account wait.
 */
export async function reserveMemory(
  request: Request,
  account: string,
  bytes: number,
): Promise<void> {
  const memory = new ResultMemory(account)
  await memory.reserve(bytes)
  memories.set(request, memory)
}

/** The memory of the response to a delivery, from before the delivery is stored until it is received. */
class ResultMemory {
  readonly #account: string
  #lease: Lease | null = null

  constructor(account: string) {
    this.#account = account
  }

  /** Takes a lease, as `reserveMemory` describes. */
  async reserve(bytes: number): Promise<void> {
    if (bytes <= SMALL_RESPONSE_BYTES) return
    const claim = {
      weight: bytes,
      account: this.#account,
      isWaitLimited: true,
      refusal: unreadResults,
    }
    this.#lease = await QUEUES.deliveryResponses.take(claim)
    this.#lease.until = Date.now() + LEASE_MS
  }

  /** Adjusts the lease to the response, which must be sent even if there is no room for its excess. */
  startSending(bytes: number): Sending {
    const lease = this.#lease
    if (lease && bytes <= lease.weight) QUEUES.deliveryResponses.shrink(lease, bytes)
    else {
      const larger = QUEUES.deliveryResponses.tryTake(bytes, this.#account, Date.now() + LEASE_MS)
      if (larger) this.release()
      this.#lease = larger ?? lease
    }
    return new Sending(QUEUES.deliveryResponses, this.#lease)
  }

  /** Releases the lease. */
  release(): void {
    if (this.#lease) QUEUES.deliveryResponses.release(this.#lease)
    this.#lease = null
  }
}

/**
 * Sends the response to a delivery of many records. Above 64 KiB it is sent in pieces, which the client
 * must take at no less than 256 KiB per second while others wait.
 */
export async function sendResults(c: Context): Promise<void> {
  const memory = memories.get(c.req.raw)
  if (!memory) return
  const bytes = new Uint8Array(await c.res.arrayBuffer())
  if (bytes.byteLength > SMALL_RESPONSE_BYTES) {
    const sending = memory.startSending(bytes.byteLength)
    c.res = new Response(sendBytes(c, bytes, sending), c.res)
  } else {
    memory.release()
    c.res = new Response(bytes, c.res)
  }
}
