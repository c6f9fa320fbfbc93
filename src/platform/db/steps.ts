import { TooManyQueries } from './query-limit.ts'

// Work that one invocation cannot do is done in steps, each of which is a batch. What is left of it is stored, so an
// end at any point loses nothing: whoever goes on finds it.

/** Makes the next step of a work. Returns whether that was the last one. */
export type Step = () => Promise<boolean>

/** Whether another step may begin. */
export type Budget = () => boolean

/** Returns the budget of so many milliseconds, and of `most` steps. */
export function within(ms: number, most = Number.POSITIVE_INFINITY): Budget {
  const deadline = Date.now() + ms
  let begun = 0
  return () => Date.now() <= deadline && begun++ < most
}

/** Makes steps of some works in turn, as far as the budget goes. Returns whether all are done. */
export async function makeSteps(works: readonly Step[], mayBegin: Budget): Promise<boolean> {
  let left = works
  while (left.length > 0) {
    const unfinished: Step[] = []
    for (const step of left) {
      if (!mayBegin()) return false
      if (!(await step())) unfinished.push(step)
    }
    left = unfinished
  }
  return true
}

/**
 * Makes steps of what `readWorks` finds, until it finds nothing. A work that fails holds up no other one. Returns
 * whether nothing is left that this invocation could do.
 */
export async function workOff(
  readWorks: () => Promise<readonly Step[]>,
  mayBegin: Budget,
  fail: (error: unknown) => void,
): Promise<boolean> {
  let hasFailed = false
  const guarded = (step: Step) => () =>
    step().catch((error) => {
      if (error instanceof TooManyQueries) throw error
      hasFailed = true
      fail(error)
      return true
    })
  while (!hasFailed) {
    const works = await readWorks()
    if (works.length === 0) return true
    if (!(await makeSteps(works.map(guarded), mayBegin))) return false
  }
  return true
}
