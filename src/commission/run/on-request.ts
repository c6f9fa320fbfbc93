import type { Databases } from '../../ingest/db/histories.ts'
import type { Grant } from '../../platform/auth/grant.ts'
import { findAccount } from '../../platform/directory/accounts.ts'
import { ApiError, unavailable } from '../../platform/errors.ts'
import { Gate } from '../../platform/http/gate.ts'
import type { Period } from '../../platform/money/calendar.ts'
import { type AccountBeginnings, readBeginnings } from '../db/facts.ts'
import { REQUEST_LIMITS } from '../limits.ts'
import { type OpenAccount, openAccount } from './account.ts'
import { TooManyFacts } from './customers.ts'
import { readRows, type StoredAccount, storedAccount } from './stored-account.ts'

/** The computations that an isolate makes at once, of which 2 for one account. */
const OF_ACCOUNTS = new Gate(8, 2)

/** Affiliates have turns of their own, one each: the firm and the team never wait for them. */
const OF_AFFILIATES = new Gate(4, 1)

/** Who waits for a turn: an affiliate, or else the account or the team for it. */
export type TurnCaller = Pick<Grant, 'account' | 'affiliate'>

/**
 * Runs a computation once its turn comes.
 *
 * @throws ApiError `unavailable` if the turn does not come in time.
 */
export async function inTurn<T>(
  { account, affiliate }: TurnCaller,
  compute: () => Promise<T>,
): Promise<T> {
  const gate = affiliate ? OF_AFFILIATES : OF_ACCOUNTS
  const name = JSON.stringify([account, affiliate?.id])
  const turn = await gate.reserve(name, 1, () => unavailable(new Error('too many computations')))
  try {
    return await compute()
  } finally {
    turn.release()
  }
}

/** What to ask instead of an answer that depends on too many records. */
export const NARROW =
  'Narrow it with `customer_id` or `affiliate_id` where the endpoint has these parameters.'

/**
 * Runs a computation of a caller once its turn comes, and returns its result.
 *
 * @param advice What to request instead if it depends on too many facts.
 * @throws ApiError `validation_failed` if it depends on too many facts, `unavailable` if its turn did
 * not come in time.
 */
export async function withinLimit<T>(
  caller: TurnCaller,
  advice: string,
  compute: () => Promise<T>,
): Promise<T> {
  try {
    return await inTurn(caller, compute)
  } catch (error) {
    if (!(error instanceof TooManyFacts)) throw error
    const limit = REQUEST_LIMITS.facts.toLocaleString('en')
    throw new ApiError('validation_failed', {
      detail: `The answer depends on more records than one request can read (${limit}). ${advice}`,
    })
  }
}

/** Reads what every computation of an account depends on, in parallel. */
export async function readStored(
  env: Env,
  { account: id, vertical }: Pick<Grant, 'account' | 'vertical'>,
  db: Databases['db'],
): Promise<{ stored: StoredAccount; beginnings: AccountBeginnings }> {
  const databases = { db, directory: env.DB }
  const [row, rows, beginnings] = await Promise.all([
    findAccount(env.DB, id),
    readRows(databases, { id, vertical }),
    readBeginnings(db, id),
  ])
  if (!row) throw new ApiError('not_found', { detail: 'This account no longer exists.' })
  return { stored: storedAccount(databases, row, rows), beginnings }
}

/** Opens an account up to a period, in two steps of parallel queries. */
export async function openPeriod(
  env: Env,
  grant: Pick<Grant, 'account' | 'vertical'>,
  db: Databases['db'],
  period: Period,
): Promise<OpenAccount> {
  const { stored, beginnings } = await readStored(env, grant, db)
  return openAccount(stored, period, beginnings)
}
