import { ApiError } from '../errors.ts'
import { QUEUES } from './memory-queues.ts'
import { waitAndCheck } from './wait-and-check.ts'
import type { Claim, Lease } from './weighted-queue.ts'

const KIB = 1024

/** The size up to which an answer needs no lease, in bytes. */
export const SMALL_ANSWER_BYTES = 64 * KIB

/** What a byte of rows takes while an answer is built: JSON from the database, values, text, bytes. */
const BUILD_WEIGHT = 6

/** What a byte of rows takes at most in the answer, where quotes are escaped. */
const ANSWER_WEIGHT = 2

/** How long reading from the database, or waiting for it, may take before it counts as lost. */
const HOLD_MS = 30_000

/** How long a client may take to begin, and the rate that it must then keep while others wait. */
const GRACE_MS = 2000
const MIN_BYTES_PER_MS = 256

/** How long a client may read nothing, even if no other request waits. */
const MAX_STALL_MS = 30_000

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
  #since = 0
  #progressAt = 0

  constructor(account: string) {
    // Reads and deliveries of an account do not wait for each other.
    this.#claim = { account: `reads of ${account}`, isLarge: false, refusal: tooManyReads }
  }

  /** Takes leases for this many bytes of rows if no request must wait for that. */
  tryHold(bytes: number): boolean {
    const { account } = this.#claim
    const until = Date.now() + HOLD_MS
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
  async hold(bytes: number): Promise<void> {
    this.release()
    try {
      this.#answer = await QUEUES.answers.take({ ...this.#claim, weight: ANSWER_WEIGHT * bytes })
      this.#answer.until = Date.now() + HOLD_MS
      this.#build = await QUEUES.process.take({ ...this.#claim, weight: BUILD_WEIGHT * bytes })
      this.#build.until = Date.now() + HOLD_MS
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
  async startSending(bytes: number): Promise<void> {
    this.#releaseBuild()
    this.#answer ??= await QUEUES.answers.take({ ...this.#claim, weight: bytes })
    QUEUES.answers.shrink(this.#answer, bytes)
    this.#since = Date.now()
    this.sent(0)
  }

  /** Extends the lease to the time that the client may take for this many bytes in total. */
  sent(bytes: number): void {
    this.#progressAt = Date.now()
    if (this.#answer) this.#answer.until = this.#since + GRACE_MS + bytes / MIN_BYTES_PER_MS
  }

  /**
   * Waits until the client has taken a piece of the answer.
   *
   * @throws Error if the lease is revoked meanwhile, or if the client takes nothing for 30 seconds.
   */
  waitFor(writing: Promise<void>): Promise<void> {
    return waitAndCheck(writing, () => {
      if (this.#answer && !QUEUES.answers.isHeld(this.#answer)) throw new Error('Others wait')
      if (Date.now() - this.#progressAt >= MAX_STALL_MS) throw new Error('The client reads nothing')
    })
  }

  /** Waits for more rows of an answer that is being sent: that is not the client's time. */
  async readMore<T>(reading: Promise<T>): Promise<T> {
    const start = Date.now()
    if (this.#answer) this.#answer.until = start + HOLD_MS
    try {
      return await reading
    } finally {
      this.#progressAt = Date.now()
      this.#since += this.#progressAt - start
    }
  }

  /** Returns all leases. */
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
