import { ApiError } from '../errors.ts'
import { QUEUES } from './memory-queues.ts'
import { Sending } from './sending.ts'
import type { Claim, Lease } from './weighted-queue.ts'

const KIB = 1024

/** The size up to which a response needs no lease, in bytes. */
export const SMALL_RESPONSE_BYTES = 64 * KIB

/** The memory that a byte of rows takes while a response is built: JSON from the database, values, text, bytes. */
const BUILD_WEIGHT = 6

/** The bytes that a byte of rows takes at most in the response, where quotes are escaped. */
const RESPONSE_WEIGHT = 2

/** How long reading from the database, or waiting for it, may take before it counts as lost. */
const LEASE_MS = 30_000

/** When to repeat a read that was refused because of others, in seconds. */
const RETRY_AFTER_SECONDS = 10

const tooManyReads = () =>
  new ApiError('unavailable', {
    detail: `Too many large responses are being sent. Responses of up to 64 KiB do not wait: ask for a smaller page or fewer days, and read each response at once. Repeat the same request after ${RETRY_AFTER_SECONDS} seconds.`,
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    cause: new Error('Too many large responses'),
  })

/** The leases of one read: from the first row until the client has received the response. */
export class ReadMemory {
  readonly #claim: Omit<Claim, 'weight'>
  #response: Lease | null = null
  #build: Lease | null = null

  constructor(account: string) {
    // Reads and deliveries of an account do not wait for each other.
    this.#claim = { account: `reads of ${account}`, isWaitLimited: false, refusal: tooManyReads }
  }

  /** Takes leases for this many bytes of rows if there is room at once. Returns whether it did. */
  tryReserve(bytes: number): boolean {
    const { account } = this.#claim
    const until = Date.now() + LEASE_MS
    this.#response = QUEUES.readResponses.tryTake(RESPONSE_WEIGHT * bytes, account, until)
    this.#build = this.#response && QUEUES.process.tryTake(BUILD_WEIGHT * bytes, account, until)
    if (!this.#build) this.release()
    return this.#build !== null
  }

  /**
   * Waits until this many bytes of rows may be read.
   *
   * @throws ApiError `unavailable` after 20 seconds in a queue.
   */
  async reserve(bytes: number): Promise<void> {
    this.release()
    try {
      this.#response = await QUEUES.readResponses.take({
        ...this.#claim,
        weight: RESPONSE_WEIGHT * bytes,
      })
      this.#response.until = Date.now() + LEASE_MS
      this.#build = await QUEUES.process.take({ ...this.#claim, weight: BUILD_WEIGHT * bytes })
      this.#build.until = Date.now() + LEASE_MS
    } catch (error) {
      this.release()
      throw error
    }
  }

  /**
   * Keeps or takes a lease for a response of this many bytes while it is sent.
   *
   * @throws ApiError `unavailable` after 20 seconds in a queue.
   */
  async startSending(bytes: number): Promise<Sending> {
    this.#releaseBuild()
    this.#response ??= await QUEUES.readResponses.take({ ...this.#claim, weight: bytes })
    QUEUES.readResponses.shrink(this.#response, bytes)
    return new Sending(QUEUES.readResponses, this.#response)
  }

  /** Releases all leases. */
  release(): void {
    this.#releaseBuild()
    if (this.#response) QUEUES.readResponses.release(this.#response)
    this.#response = null
  }

  #releaseBuild() {
    if (this.#build) QUEUES.process.release(this.#build)
    this.#build = null
  }
}
