import type { Grant } from '../../auth/grant.ts'
import type { Databases } from '../../db/commission/histories.ts'
import { findAccount } from '../../db/directory/accounts.ts'
import { MINUTE_MS } from '../../durations.ts'
import { ApiError, unavailable } from '../../errors.ts'
import { WeightedQueue } from '../../http/weighted-queue.ts'
import type { Period } from '../engine/calendar.ts'
import { type AccountBeginnings, beginningsOf } from '../facts/days.ts'
import { type AccountSource, readSource, sourceOf } from '../facts/source.ts'
import type { Computation } from './computation.ts'
import { openComputation, TooManyFacts } from './compute.ts'
import { FRESH_LIMITS } from './limits.ts'

/** The computations that an isolate makes at once: 8 in all, of which 2 for one account. */
const COMPUTATIONS = new WeightedQueue(8, 2)

/** How long a computation waits for its turn. */
const WAIT_MS = 10_000

/** The runtime may end a request without its `finally`, so a computation counts for a minute at most. */
const LEASE_MS = MINUTE_MS

const tooManyComputations = () => unavailable(new Error('too many computations'))

/**
 * Runs a computation of an account once its turn comes, and returns its result.
 *
 * @param advice What to request instead if it depends on too many facts.
 * @throws ApiError `validation_failed` if it depends on too many facts, `unavailable` if its turn did
 * not come within 10 seconds.
 */
export async function withinLimit<T>(
  account: string,
  advice: string,
  compute: () => Promise<T>,
): Promise<T> {
  try {
    return await inTurn(account, compute)
  } catch (error) {
    if (!(error instanceof TooManyFacts)) throw error
    const limit = FRESH_LIMITS.facts.toLocaleString('en')
    throw new ApiError('validation_failed', {
      detail: `The answer depends on more records than one request can read (${limit}). ${advice}`,
    })
  }
}

/**
 * Runs a computation of an account once its turn comes, and returns its result.
 *
 * @throws ApiError `unavailable` if its turn did not come within 10 seconds.
 */
export async function inTurn<T>(account: string, compute: () => Promise<T>): Promise<T> {
  const claim = { account, weight: 1, isWaitLimited: false, waitMs: WAIT_MS }
  const turn = await COMPUTATIONS.take({ ...claim, refusal: tooManyComputations })
  turn.until = Date.now() + LEASE_MS
  try {
    return await compute()
  } finally {
    COMPUTATIONS.release(turn)
  }
}

/** Reads what every computation of an account depends on, in one round trip. */
export async function readStored(
  env: Env,
  { account: id, vertical }: Pick<Grant, 'account' | 'vertical'>,
  db: Databases['db'],
): Promise<{ source: AccountSource; beginnings: AccountBeginnings }> {
  const databases = { db, directory: env.DB }
  const key = { id, vertical }
  const [account, stored, beginnings] = await Promise.all([
    findAccount(env.DB, id),
    readSource(databases, key),
    beginningsOf({ db, account: key }),
  ])
  if (!account) throw new ApiError('not_found', { detail: 'This account no longer exists.' })
  return { source: sourceOf(databases, account, stored), beginnings }
}

/** Prepares the computation of a period of an account, in two round trips. */
export async function openPeriod(
  env: Env,
  grant: Pick<Grant, 'account' | 'vertical'>,
  db: Databases['db'],
  period: Period,
): Promise<Computation> {
  const { source, beginnings } = await readStored(env, grant, db)
  return openComputation(source, period, null, beginnings)
}
