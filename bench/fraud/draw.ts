import { fractions } from '../../scripts/dev/fractions.ts'

/** Draws from the usual distributions; the same in each run. */
export interface Draw {
  /** A fraction from 0 to 1. */
  readonly uniform: () => number
  readonly between: (from: number, to: number) => number
  /** A whole number, both ends included. */
  readonly integer: (from: number, to: number) => number
  readonly chance: (probability: number) => boolean
  readonly normal: () => number
  /** @param sigma The standard deviation of the logarithm. */
  readonly lognormal: (median: number, sigma: number) => number
  readonly exponential: (mean: number) => number
  readonly poisson: (mean: number) => number
  readonly pick: <T>(values: readonly T[]) => T
}

/** Returns the draws of a seed. */
export function drawsOf(seed: number): Draw {
  const uniform = fractions(seed)
  const between = (from: number, to: number) => from + uniform() * (to - from)
  const integer = (from: number, to: number) => Math.floor(between(from, to + 1))
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
  const poisson = (mean: number) => {
    if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()))
    let count = 0
    for (let rest = uniform(); rest > Math.exp(-mean); rest *= uniform()) count++
    return count
  }
  return {
    uniform,
    between,
    integer,
    chance: (probability) => uniform() < probability,
    normal,
    lognormal: (median, sigma) => median * Math.exp(sigma * normal()),
    exponential: (mean) => -mean * Math.log(1 - uniform()),
    poisson,
    pick: <T>(values: readonly T[]): T => values[integer(0, values.length - 1)] as T,
  }
}
