import { type CausesOf, NO_CAUSES } from './cause.ts'
import type { Computation, ComputedPeriod } from './computation.ts'

/** Finds the causes of all corrections of a computation. */
export async function findCauses(
  _computation: Computation,
  _computed: readonly ComputedPeriod[],
): Promise<CausesOf> {
  return NO_CAUSES
}
