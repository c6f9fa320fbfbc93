import { env } from 'cloudflare:workers'
import fc from 'fast-check'

/** Time enough for any number of runs on a busy machine: only what hangs is ended. */
export const PATIENCE = 24 * 3_600_000

/** How often: so many times in `npm test`, and as often as it says under `npm run fuzz -- --runs`. */
export const runs = (usual: number) => env.FUZZ.runs || usual

/** Whether there is time for whatever can be tried. */
export const isLong = env.FUZZ.runs >= 10_000

/**
 * Holds for all that is made so. What fails is made smaller, and told with the seed that makes it
 * again: `npm run fuzz -- --seed`.
 */
export function holds<T>(
  usual: number,
  made: fc.Arbitrary<T>,
  law: (one: T) => Promise<void>,
): Promise<void> {
  const { seed } = env.FUZZ
  const property = fc.asyncProperty(made, law)
  return fc.assert(property, {
    numRuns: runs(usual),
    ...(seed !== null && { seed }),
  })
}
