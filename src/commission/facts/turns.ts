/** The facts after which a computation lets other requests of its isolate have a turn. */
const FACTS_OF_A_TURN = 2000

/**
 * Returns a function that is told of facts before they are looked at, and returns a promise once other
 * requests should have a turn: the isolate has one thread, and 40,000 facts keep it busy for half a
 * second.
 */
export function factTurns(): (facts: number) => Promise<void> | null {
  let since = 0
  return (facts) => {
    since += facts
    if (since < FACTS_OF_A_TURN) return null
    since = 0
    return scheduler.wait(0)
  }
}
