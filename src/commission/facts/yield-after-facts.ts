/** The facts after which a computation yields to other requests. */
const FACTS_BETWEEN_YIELDS = 2000

/**
 * Returns a function to call with the number of facts of each customer before they are computed. It
 * returns a promise to await when other requests of the isolate should run, otherwise null: an isolate
 * has one thread, and 40,000 facts occupy it for half a second.
 */
export function yieldAfterFacts(): (facts: number) => Promise<void> | null {
  let sinceYield = 0
  return (facts) => {
    sinceYield += facts
    if (sinceYield < FACTS_BETWEEN_YIELDS) return null
    sinceYield = 0
    return scheduler.wait(0)
  }
}
