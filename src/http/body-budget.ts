import { unavailable } from '../errors.ts'

/**
 * Bodies larger than this are read one at a time. An isolate has 128 MB of memory, and a body of
 * the maximum size takes up to 86 MB.
 */
export const LARGE_BODY_BYTES = 1024 * 1024

/** How long a sender may take to begin, and the rate it must then keep to hold the slot. */
const GRACE_MS = 2000
const MIN_BYTES_PER_MS = 1024

/** How long a request may take to validate and store its body before it counts as lost. */
const PROCESSING_MS = 30_000

/** How often a stalled body checks whether it still holds the slot. */
const CHECK_INTERVAL_MS = 1000

let slotHolder: LargeBodySlot | null = null

/**
 * The slot for one large body; an isolate has a single one. A body that arrives too slowly loses
 * the slot to the next request and is refused. Otherwise a sender of one byte a second could block
 * all other large requests, or keep what was read in memory.
 */
export class LargeBodySlot {
  readonly #grantPromise: Promise<unknown>
  #since = 0
  #until = 0

  /** Creates a slot that is only acquired once `grantPromise` resolves. */
  constructor(grantPromise: Promise<unknown>) {
    this.#grantPromise = grantPromise
  }

  /**
   * Waits until the slot is free and acquires it. Polls, because the promise of a request that is
   * cancelled never settles.
   *
   * @throws ApiError `unavailable` if the slot was acquired before and lost.
   */
  async acquire(): Promise<void> {
    this.#checkHeld()
    if (this.#since > 0) return
    await this.#grantPromise
    while (slotHolder && Date.now() < slotHolder.#until) await scheduler.wait(5)
    slotHolder = this
    this.#since = Date.now()
    this.#until = this.#since + GRACE_MS
  }

  /** Extends the slot to the time that this many bytes in total may take. */
  received(bytes: number): void {
    this.#until = Math.max(this.#until, this.#since + GRACE_MS + bytes / MIN_BYTES_PER_MS)
  }

  /**
   * Extends the slot to the time that processing may take.
   *
   * @throws ApiError `unavailable` if the slot was lost.
   */
  startProcessing(): void {
    this.#checkHeld()
    this.#until = Date.now() + PROCESSING_MS
  }

  /**
   * Waits for the next chunk.
   *
   * @throws ApiError `unavailable` if the slot is lost meanwhile.
   */
  async waitFor<T>(chunk: Promise<T>): Promise<T> {
    const arrived = chunk.then((value) => ({ value }))
    arrived.catch(() => {}) // Nothing awaits it once the slot is lost.
    for (;;) {
      // The timer is cancelled each time: a request may have 10,000 timers, a body more chunks.
      const timer = new AbortController()
      const timeout = scheduler.wait(CHECK_INTERVAL_MS, { signal: timer.signal }).then(
        () => null,
        () => null,
      )
      const result = await Promise.race([arrived, timeout]).finally(() => timer.abort())
      if (result) return result.value
      this.#checkHeld()
    }
  }

  /** Frees the slot for the next request. */
  release(): void {
    if (slotHolder === this) slotHolder = null
  }

  #checkHeld() {
    if (this.#since > 0 && slotHolder !== this) {
      throw unavailable(new Error('A large body arrived too slowly.'), GRACE_MS / 1000)
    }
  }
}
