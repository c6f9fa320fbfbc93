import { confirmMove } from '../db/directory/account-moves.ts'
import { withD1Retry } from '../db/retry.ts'
import { MOVE_LIMITS } from './move-limits.ts'

/**
 * Has the old copy of an account that has moved deleted without a confirmation: it still has what was just erased
 * or deleted.
 */
export const dropOldCopy = (env: Env, account: string): Promise<unknown> =>
  withD1Retry(() => confirmMove(env.DB, account, Date.now(), MOVE_LIMITS.leastMs).run())
