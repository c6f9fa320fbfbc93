/** A body above this is read when it is its turn: an isolate has 128 MB, a maximal body takes 47. */
export const LARGE = 1024 * 1024

/** A turn that was not given back by then was lost with its request. */
const LOST_AFTER_MS = 60_000

let taken: { at: number } | null = null

/**
 * Waits until no other large body of this isolate is in work, and gives the function that ends the
 * turn. It looks again and again, rather than to wait for the other request's promise: a request
 * that is cancelled never keeps one.
 */
export async function takeTurn(): Promise<() => void> {
  while (taken && Date.now() - taken.at < LOST_AFTER_MS) await scheduler.wait(5)
  const mine = { at: Date.now() }
  taken = mine
  return () => {
    if (taken === mine) taken = null
  }
}
