import { type CopyPlace, notBuilt } from './place.ts'

/**
 * Copies the next pages of an account, with at most `MOVE_LIMITS.queries` queries. Begins with the place
 * null; returns the place at which the next step goes on, or null once every table is copied. A step that is
 * repeated copies the same rows again.
 *
 * @throws CopyEnded if another step has begun to write the copy meanwhile, or the copy has ended.
 */
export const copyStep = (
  _source: D1Database,
  _target: D1Database,
  _account: string,
  _place: CopyPlace | null,
): Promise<CopyPlace | null> => notBuilt()
