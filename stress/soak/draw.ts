/** Random choices, the same ones for the same seed. */
export interface Draw {
  /** Returns a whole number from 0, below `n`. */
  below: (n: number) => number
  one: <T>(list: readonly T[]) => T
  /** Returns at most `n` different numbers below `most`. */
  some: (n: number, most: number) => number[]
  /** Returns a day of the span. */
  day: () => string
}

/** The first and the last day of total records. */
export const SPAN = { from: '2026-10-01', to: '2026-10-09' }

/** Makes random choices from numbers from 0 to 1. */
export function newDraw(random: () => number): Draw {
  const below = (n: number) => Math.floor(random() * n)
  return {
    below,
    one: (list) => list[below(list.length)]!,
    some: (n, most) => [...new Set(Array.from({ length: n }, () => below(most)))],
    day: () => `2026-10-0${1 + below(9)}`,
  }
}

/** An action of a lane and its weight among the others. */
export type WeightedAction = readonly [weight: number, run: () => Promise<unknown>]

/** Draws an action by weight. */
export function drawAction(
  actions: readonly WeightedAction[],
  random: () => number,
): () => Promise<unknown> {
  const total = actions.reduce((sum, [weight]) => sum + weight, 0)
  let left = random() * total
  for (const [weight, run] of actions) {
    left -= weight
    if (left < 0) return run
  }
  return actions[0]![1]
}
