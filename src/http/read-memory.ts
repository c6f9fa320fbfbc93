import { ApiError } from '../errors.ts'
import { QUEUES } from './memory-queues.ts'
import { Sending } from './sending.ts'
import type { Claim, Lease } from './weighted-queue.ts'

const KIB = 1024

/** The size up to which an answer needs no lease, in bytes. */
export const SMALL_ANSWER_BYTES = 64 * KIB

/** The memory that a byte of rows takes while an answer is built: JSON from the database, values, text, bytes. */
const BUILD_WEIGHT = 6

/** The bytes that a byte of rows takes at most in the answer, where quotes are escaped. */
const ANSWER_WEIGHT = 2

/** How long reading from the database, or waiting for it, may take before it counts as lost. */
const LEASE_MS = 30_000

/** When to repeat a read that was refused because of others, in seconds. */
const RETRY_AFTER_SECONDS = 10

const tooManyReads = () =>
  new ApiError('unavailable', {
    detail: `Too many large answers are being sent. Answers of up to 64 KiB do not wait: ask for a smaller page or fewer days, and read each answer at once. Repeat the same request after ${RETRY_AFTER_SECONDS} seconds.`,
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    cause: new Error('Too many large answers'),
  })

/** The leases of one read: from the first row until the client has received the answer. */
export class ReadMemory {
  readonly #claim: Omit<Claim, 'weight'>
  #answer: Lease | null = null
  #build: Lease | null = null

  constructor(account: string) {
    // Reads and deliveries of an account do not wait for each other.
    this.#claim = { account: `reads of ${account}`, isLarge: false, refusal: tooManyReads }
  }

  /** Takes leases for this many bytes of rows if there is room at once. Returns whether it did. */
  tryReserve(bytes: number): boolean {
    const { account } = this.#claim
    const until = Date.now() + LEASE_MS
    this.#answer = QUEUES.answers.tryTake(ANSWER_WEIGHT * bytes, account, until)
    this.#build = this.#answer && QUEUES.process.tryTake(BUILD_WEIGHT * bytes, account, until)
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
      this.#answer = await QUEUES.answers.take({ ...this.#claim, weight: ANSWER_WEIGHT * bytes })
      this.#answer.until = Date.now() + LEASE_MS
      this.#build = await QUEUES.process.take({ ...this.#claim, weight: BUILD_WEIGHT * bytes })
      this.#build.until = Date.now() + LEASE_MS
    } catch (error) {
      this.release()
      throw error
    }
  }

  /**
   * Keeps or takes a lease for an answer of this many bytes while it is sent.
   *
   * @throws ApiError `unavailable` after 20 seconds in a queue.
   */
  async startSending(bytes: number): Promise<Sending> {
    this.#releaseBuild()
    this.#answer ??= await QUEUES.answers.take({ ...this.#claim, weight: bytes })
    QUEUES.answers.shrink(this.#answer, bytes)
    return new Sending(QUEUES.answers, this.#answer)
  }

  /** Releases all leases. */
  release(): void {
    this.#releaseBuild()
    if (this.#answer) QUEUES.answers.release(this.#answer)
    this.#answer = null
  }

  #releaseBuild() {
    if (this.#build) QUEUES.process.release(this.#build)
    this.#build = null
  }
}
