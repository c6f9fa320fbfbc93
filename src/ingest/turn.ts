/** A body above this is read when it is its turn: an isolate has 128 MB, a maximal body takes 47. */
export const LARGE = 1024 * 1024

/** A turn that was not ended by then was lost with its request. */
const LOST_AFTER_MS = 60_000

let taken: { turn: Turn; at: number } | null = null

/** The turn of one large body; this isolate has one at a time. */
export class Turn {
  /**
   * Waits for it. It looks again and again, rather than to wait for the promise of the request
   * before: one that is cancelled never keeps its promise.
   */
  async take(): Promise<void> {
    while (taken && taken.turn !== this && Date.now() - taken.at < LOST_AFTER_MS) {
      await scheduler.wait(5)
    }
    taken = { turn: this, at: Date.now() }
  }

  /** Lets the next one have it. */
  end(): void {
    if (taken?.turn === this) taken = null
  }
}
