import { unavailable } from '../errors.ts'

/** A body above this is read when it is its turn: an isolate has 128 MB, a maximal one takes up to 86. */
export const LARGE_BODY_BYTES = 1024 * 1024

/** How fast a body must come to keep its turn, and what it may take to begin: ms and bytes a ms. */
const GRACE_MS = 2000
const MIN_BYTES_PER_MS = 1024

/** How long it may take to judge and store what was read; after that its request was lost. */
const PROCESSING_MS = 30_000

/** How often a body that has stopped coming looks whether its turn is gone. */
const CHECK_INTERVAL_MS = 1000

let holder: LargeBodySlot | null = null

/**
 * The turn of one large body; this isolate has one at a time. A body that comes too slowly loses it
 * to the next that waits, and is refused: whoever sends a byte a second must neither keep all
 * others waiting, nor keep what was read meanwhile.
 */
export class LargeBodySlot {
  readonly #grantPromise: Promise<unknown>
  #since = 0
  #until = 0

  /** A turn that none gets who is not grantPromise. */
  constructor(grantPromise: Promise<unknown>) {
    this.#grantPromise = grantPromise
  }

  /**
   * Waits for it. It looks again and again, rather than to wait for the promise of the request
   * before: one that is cancelled never keeps its promise.
   */
  async acquire(): Promise<void> {
    this.#check()
    if (this.#since > 0) return
    await this.#grantPromise
    while (holder && Date.now() < holder.#until) await scheduler.wait(5)
    holder = this
    this.#since = Date.now()
    this.#until = this.#since + GRACE_MS
  }

  /** Keeps it for as long as so many bytes may take to come. */
  received(bytes: number): void {
    this.#until = Math.max(this.#until, this.#since + GRACE_MS + bytes / MIN_BYTES_PER_MS)
  }

  /** Keeps it for what there is to do with them. */
  startProcessing(): void {
    this.#check()
    this.#until = Date.now() + PROCESSING_MS
  }

  /** Waits for what is to come, unless the turn is lost over it. */
  async waitFor<T>(coming: Promise<T>): Promise<T> {
    const late = Symbol()
    coming.catch(() => {}) // Nobody waits for it any more once the turn is lost.
    for (;;) {
      // A body comes in many chunks, and a request may have 10,000 timers.
      const over = new AbortController()
      const look = scheduler.wait(CHECK_INTERVAL_MS, { signal: over.signal }).catch(() => {})
      const first = await Promise.race([coming, look.then(() => late)]).finally(() => over.abort())
      if (first !== late) return first as T
      this.#check()
    }
  }

  /** Lets the next one have it. */
  release(): void {
    if (holder === this) holder = null
  }

  #check() {
    if (this.#since > 0 && holder !== this) {
      throw unavailable(new Error('A large body came too slowly.'), GRACE_MS / 1000)
    }
  }
}
