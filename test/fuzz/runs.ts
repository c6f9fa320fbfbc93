import { env } from 'cloudflare:workers'
import fc from 'fast-check'

/** A time limit in ms that only a test that hangs exceeds, for any number of runs. */
export const PATIENCE = 24 * 3_600_000

/** Returns the number of runs: `usual` in `npm test`, that of `--runs` in `npm run worlds -- fuzz`. */
export const runs = (usual: number) => env.FUZZ_RUNS || usual

/** Whether the run is long enough to try every single edit of a token. */
export const isLong = env.FUZZ_RUNS >= 10_000

/**
 * Asserts that a law holds for every generated value. fast-check shrinks a counterexample and reports
 * it with the seed: `npm run worlds -- fuzz --seed N` generates it again.
 */
export function holds<T>(
  usual: number,
  values: fc.Arbitrary<T>,
  law: (value: T) => Promise<void>,
): Promise<void> {
  return fc.assert(fc.asyncProperty(values, law), { numRuns: runs(usual), seed: env.SEED })
}
