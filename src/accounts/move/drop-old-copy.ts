import { withD1Retry } from '../../platform/db/retry.ts'
import { confirmMove } from '../../platform/directory/account-moves.ts'
import { MOVE_LIMITS } from './move-limits.ts'

/**
 * Has the old copy of an account that has moved deleted without a confirmation: it still has what was just erased
 * or deleted.
 */
export const dropOldCopy = (env: Env, account: string): Promise<unknown> =>
  withD1Retry(() => confirmMove(env.DB, account, Date.now(), MOVE_LIMITS.leastMs).run())
