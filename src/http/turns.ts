import type { Grant } from '../auth/grant.ts'
import { MINUTE_MS } from '../durations.ts'
import { unavailable } from '../errors.ts'
import { WeightedQueue } from './weighted-queue.ts'

/** How long work waits for its turn, in milliseconds. */
const WAIT_MS = 10_000

/** The runtime may end a request without its `finally`, so work counts for a minute at most. */
const LEASE_MS = MINUTE_MS

/** Who waits for a turn: an affiliate, or else the account or the team for it. */
export type TurnCaller = Pick<Grant, 'account' | 'affiliate'>

/**
 * Returns a function that runs work once its turn comes. An isolate runs at most `limit` at once, of which
 * `accountLimit` for one account. Affiliates have half as many turns of their own, one each: the firm and the
 * team never wait for them. `work` says what it is, for the log.
 *
 * @throws ApiError `unavailable` by that function if the turn did not come within 10 seconds.
 */
export function newTurns(limit: number, accountLimit: number, work: string) {
  const ofAccounts = new WeightedQueue(limit, accountLimit)
  const ofAffiliates = new WeightedQueue(limit / 2, 1)
  const refusal = () => unavailable(new Error(`too many ${work}`))
  return async function inTurn<T>(caller: TurnCaller, run: () => Promise<T>): Promise<T> {
    const { account, affiliate } = caller
    const queue = affiliate ? ofAffiliates : ofAccounts
    const name = JSON.stringify([account, affiliate?.id])
    const claim = { account: name, weight: 1, isWaitLimited: false, waitMs: WAIT_MS, refusal }
    const turn = await queue.take(claim)
    turn.until = Date.now() + LEASE_MS
    try {
      return await run()
    } finally {
      queue.release(turn)
    }
  }
}
