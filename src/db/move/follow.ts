import { notBuilt } from './place.ts'

/**
 * Begins to note every change of an account's rows in its database, and opens the target for the copy. Does
 * nothing if that was done before.
 *
 * @throws CopyRefused if the target has rows of the account, or if the tables of both databases differ.
 */
export const startFollowing = (
  _source: D1Database,
  _target: D1Database,
  _account: string,
): Promise<void> => notBuilt()

/**
 * Copies the rows that have changed since they were noted, with at most `MOVE_LIMITS.queries` queries. Returns
 * how many notes are left.
 */
export const followStep = (
  _source: D1Database,
  _target: D1Database,
  _account: string,
): Promise<number> => notBuilt()

/** Refuses each write of the account in its database from now on, with `account_is_moving`. */
export const closeWrites = (_source: D1Database, _account: string): Promise<void> => notBuilt()

/** Allows writes of the account again: its move was cancelled or has failed. */
export const openWrites = (_source: D1Database, _account: string): Promise<void> => notBuilt()

/**
 * Ends the copy once the account lives in the target: no step can write or drop its rows there any more. Not
 * for a cancelled copy: `dropStep` deletes that one.
 */
export const endCopying = (_target: D1Database, _account: string): Promise<void> => notBuilt()

/**
 * Ends notes and refusals of the account's writes: after a cancelled move, or some time after the old copy
 * was dropped, once nothing can hold the old binding any more.
 */
export const endFollowing = (_source: D1Database, _account: string): Promise<void> => notBuilt()
