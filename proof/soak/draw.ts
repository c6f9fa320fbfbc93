/** Draws by a seed. */
export interface Draw {
  /** A whole number from 0, below `n`. */
  below: (n: number) => number
  one: <T>(list: readonly T[]) => T
  /** Different numbers below `most`, at most `n` of them. */
  some: (n: number, most: number) => number[]
  /** A day of the days on which all of this happens. */
  day: () => string
}

/** The first and the last of them. */
export const SPAN = { from: '2026-10-01', to: '2026-10-09' }

/** Draws by numbers from 0 to 1. */
export function drawing(random: () => number): Draw {
  const below = (n: number) => Math.floor(random() * n)
  return {
    below,
    one: (list) => list[below(list.length)]!,
    some: (n, most) => [...new Set(Array.from({ length: n }, () => below(most)))],
    day: () => `2026-10-0${1 + below(9)}`,
  }
}

/** Something that a lane may do, and how often it does it beside the others. */
export type Act = readonly [weight: number, run: () => Promise<unknown>]

/** Draws one of them. */
export function drawAct(acts: readonly Act[], random: () => number): () => Promise<unknown> {
  const all = acts.reduce((sum, [weight]) => sum + weight, 0)
  let left = random() * all
  for (const [weight, run] of acts) {
    left -= weight
    if (left < 0) return run
  }
  return acts[0]![1]
}
