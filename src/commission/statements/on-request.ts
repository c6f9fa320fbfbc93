import type { Databases } from '../../ingest/db/histories.ts'
import type { Grant } from '../../platform/auth/grant.ts'
import type { Connection } from '../../platform/db/database.ts'
import { findAccount } from '../../platform/directory/accounts.ts'
import { ApiError, unavailable } from '../../platform/errors.ts'
import { Gate } from '../../platform/http/gate.ts'
import type { ReadCall } from '../../platform/http/operation.ts'
import { invalidQuery } from '../../platform/http/query.ts'
import { type AccountBeginnings, readBeginnings } from '../db/facts.ts'
import { findStatement, type StatementFilter } from '../db/statements.ts'
import type { PlanResult } from '../engine/account-input.ts'
import { type Period, parsePeriod } from '../engine/calendar.ts'
import { findCauses } from './causes.ts'
import { type Computation, computeAffiliates, openComputation, TooManyFacts } from './compute.ts'
import { toDraft } from './draft.ts'
import { statementId } from './ids.ts'
import { FAR_AHEAD, FRESH_LIMITS, isFarAhead } from './limits.ts'
import { presentDraft, presentWhole } from './present.ts'
import { type AccountSource, readSource, sourceOf } from './source.ts'

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
    const limit = FRESH_LIMITS.facts.toLocaleString('en')
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
): Promise<{ source: AccountSource; beginnings: AccountBeginnings }> {
  const databases = { db, directory: env.DB }
  const key = { id, vertical }
  const [account, stored, beginnings] = await Promise.all([
    findAccount(env.DB, id),
    readSource(databases, key),
    readBeginnings(db, id),
  ])
  if (!account) throw new ApiError('not_found', { detail: 'This account no longer exists.' })
  return { source: sourceOf(databases, account, stored), beginnings }
}

/** Prepares the computation of a period of an account, in two steps of parallel queries. */
export async function openPeriod(
  env: Env,
  grant: Pick<Grant, 'account' | 'vertical'>,
  db: Databases['db'],
  period: Period,
): Promise<Computation> {
  const { source, beginnings } = await readStored(env, grant, db)
  return openComputation(source, period, beginnings)
}

/**
 * Computes the statements of one affiliate and period; for a closed period, returns the approved statements. Stores
 * nothing.
 */
export async function computeFresh(
  { env, grant, session }: ReadCall,
  filter: Pick<StatementFilter, 'affiliate_id' | 'period' | 'plan' | 'status'>,
) {
  const { affiliate_id, plan, status } = filter
  const period = parsePeriod(filter.period ?? '')
  if (affiliate_id === undefined || period === null) {
    throw invalidQuery('`fresh` requires `affiliate_id` and `period`.')
  }
  if (isFarAhead(period, Date.now())) throw invalidQuery(FAR_AHEAD, 'period')
  const computedAt = new Date().toISOString()
  const { results, causesOf } = await withinLimit(
    grant,
    startRun(grant.account, period),
    async () => {
      const computation = await openPeriod(env, grant, session, period)
      const computed = await computeAffiliates(computation, [affiliate_id], FRESH_LIMITS.facts)
      const requested = computed.slice(-1)
      const found = await findCauses(computation, requested)
      return { results: requested[0]?.results ?? [], causesOf: found }
    },
  )
  const found = await Promise.all(
    results.map(async (result) => {
      if (plan !== undefined && result.plan.plan !== plan) return null
      if (result.closed) return readClosed(session, grant.account, result, period)
      const draft = await toDraft(result, period, causesOf)
      return draft && presentDraft(draft, computedAt)
    }),
  )
  return found.flatMap((one) =>
    one && (status === undefined || one.status === status) ? [one] : [],
  )
}

/** Returns the approved statement of a closed period; null if it has none. */
async function readClosed(
  db: Connection,
  account: string,
  { affiliate, plan }: PlanResult,
  { id: period }: Period,
) {
  const id = await statementId(affiliate, plan.plan, period)
  const found = await findStatement(db, account, id, 1)
  return found && presentWhole(found, 1)
}

/** Returns what to request instead for an affiliate with too many facts. */
const startRun = (account: string, { id }: Period): string =>
  `Start a run of the period, which computes any number: POST /admin/v1/accounts/${encodeURIComponent(account)}/periods/${id}/run. Then read the statement without \`fresh\`.`
