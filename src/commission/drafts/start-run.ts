import type { Context } from 'hono'
import type { AppEnv } from '../../auth/authorize.ts'
import { findRun } from '../../db/commission/runs.ts'
import { startRun } from '../../db/commission/start-run.ts'
import { resolveDatabase } from '../../db/database.ts'
import { findAccount } from '../../db/directory/accounts.ts'
import type { Account } from '../../db/schema.ts'
import { DAY_MS } from '../../durations.ts'
import { ApiError, unavailable } from '../../errors.ts'
import { readQuery } from '../../http/query.ts'
import { withReadSession } from '../../http/read-session.ts'
import { bookZoneOf, instantOfLocalTime, offsetAt } from '../../zone.ts'
import type { Period } from '../engine/calendar.ts'
import { RUN_LIMITS } from './limits.ts'
import { readPathPeriod } from './path-period.ts'
import { failRun, firstRunId, newRunId } from './run.ts'
import { NOT_STARTED } from './run-failure.ts'

const TOO_MANY = `${RUN_LIMITS.running} runs of this account are running, the maximum. Wait until one of them is done.`

/** Returns when the current day began in the zone of an account's facts, in milliseconds. */
function startOfDay(account: Account, now: number): number {
  const zone = bookZoneOf(account)
  const clock = now + offsetAt(zone, now)
  return instantOfLocalTime(zone, Math.floor(clock / DAY_MS) * DAY_MS).instant
}

/**
 * Throws `validation_failed` unless a period has begun in the zone of the account's facts. Drafts of a
 * later period would only repeat what is carried.
 */
function checkBegun(account: Account, { id, first }: Period, now: number): void {
  const begin = instantOfLocalTime(bookZoneOf(account), first * DAY_MS).instant
  if (now >= begin) return
  throw new ApiError('validation_failed', {
    detail: `The period ${id} has not begun. It can be computed from ${new Date(begin).toISOString()} on.`,
  })
}

/**
 * Returns the earliest start of a run that may be returned instead of starting a new one, in
 * milliseconds. That run must have begun on the same day, since a period can only be approved after a
 * run that began after the period's end.
 */
const unreadSince = (account: Account, now: number): number =>
  Math.max(now - RUN_LIMITS.unreadMs, startOfDay(account, now))

/** Stores a run and starts its Workflow, or returns the run of the period that has read nothing yet. */
export async function respondWithStart(c: Context<AppEnv>, text: string): Promise<Response> {
  readQuery(c.req.url)
  const period = readPathPeriod(text)
  const { account, binding } = await c.var.grantPromise
  const row = await findAccount(c.env.DB, account)
  if (!row) throw new ApiError('not_found', { detail: 'This account no longer exists.' })
  const now = Date.now()
  checkBegun(row, period, now)
  const id = newRunId(now)
  const started = await startRun(resolveDatabase(c.env, binding), {
    account,
    id,
    period: period.id,
    started_at: new Date(now).toISOString(),
    actor: c.var.actor,
    unread_since: firstRunId(unreadSince(row, now)),
    most: RUN_LIMITS.running,
    running_since: firstRunId(now - DAY_MS),
  })
  if (started === null) {
    const headers = { 'Retry-After': String(RUN_LIMITS.retryAfter) }
    throw new ApiError('rate_limited', { detail: TOO_MANY, headers })
  }
  if (started === id) await startWorkflow(c.env, account, id, period.id)
  return withReadSession(c, async ({ session }) =>
    c.json(await findRun(session, account, started), 202),
  )
}

async function startWorkflow(
  env: Env,
  account: string,
  run: string,
  period: string,
): Promise<void> {
  const params = { account, run, period }
  try {
    await env.STATEMENT_RUNS.create({ id: run, params })
  } catch (error) {
    await failRun(env, params, NOT_STARTED, Date.now())
    throw unavailable(error)
  }
}
