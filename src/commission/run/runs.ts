import { raisePosition } from '../../ingest/db/changed.ts'
import { compareText } from '../../platform/compare-text.ts'
import { accountDatabase } from '../../platform/db/database.ts'
import type { Account } from '../../platform/db/schema.ts'
import { ulid, ulidOf, ulidPrefix } from '../../platform/db/ulid.ts'
import { findAccount } from '../../platform/directory/accounts.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { ApiError, unavailable } from '../../platform/errors.ts'
import type { Call } from '../../platform/http/operation.ts'
import { dayNumber, type Period, parsePeriod, periodOf } from '../../platform/money/calendar.ts'
import { bookZoneOf, dayInZone, instantOfLocalTime } from '../../platform/zone.ts'
import { countCustomers } from '../db/customers-of.ts'
import {
  affiliatesToSettle,
  beginReading,
  beginStep,
  endRun,
  endStep,
  failStalled,
  findRun,
  insertReady,
  insertRun,
  lastDraftPeriod,
  periodKinds,
  storeSteps,
} from '../db/runs.ts'
import { assignmentsOf } from '../engine/plans-in-force.ts'
import { QUIET_MS, RUN_LIMITS, STEP_LIMITS } from '../limits.ts'
import { dependencies, divide, type OpenAccount, openAccount } from './account.ts'
import { storeStatements } from './morning.ts'
import { endOf } from './period-end.ts'
import { readAccount, type StoredAccount } from './stored-account.ts'

// Why a run failed, as `GET runs/{id}` says it.

const AGAIN = 'Computed statements are kept. Start another run of the period.'

/** Returns the reason of a run of which a step failed in every attempt. */
export const failedStep = (step: string): string =>
  `The step "${step}" failed in all attempts; the log of the Worker names the errors. ${AGAIN}`

/** The reason of a run whose Workflow could not be created. */
const NOT_STARTED = 'Its Workflow could not be started. Start another run of the period.'

/** The reason of a run that has stopped without a failure. */
const STOPPED = `It has stopped. ${AGAIN}`

/** A run over the affiliates of an account, as its Workflow knows it. */
export interface RunParameters {
  readonly account: string
  readonly run: string
  readonly period: string
}

const PREFIX = 'run_'

/** How long runs are kept, in milliseconds. */
const KEPT_MS = 30 * DAY_MS

/** Returns a new id of a run. */
export const newRunId = (now: number): string => PREFIX + ulid(now)

/** Returns the first id that a run of this millisecond can have. */
const firstRunId = (now: number): string => PREFIX + ulidPrefix(now)

async function findRunAccount(
  env: Env,
  { account: id, period: text }: RunParameters,
): Promise<{ account: Account; period: Period; db: D1Database }> {
  const account = await findAccount(env.DB, id)
  const period = parsePeriod(text)
  if (!account || !period) throw new Error('The account or the period of the run does not exist.')
  return { account, period, db: accountDatabase(env, account) }
}

/**
 * Returns the period up to which a run goes: to the last one of its kind with a draft, so that no draft stays that the
 * records no longer support (§16.32).
 */
async function lastOfRun({ db, row }: StoredAccount, period: Period): Promise<Period> {
  const drafted = parsePeriod((await lastDraftPeriod(db, row.id, period.id)) ?? '')
  return drafted !== null && drafted.last > period.last ? drafted : period
}

/**
 * Plans and stores the steps of a run, and returns their number. If it is called again, it returns the
 * number of the stored steps. Returns 0 for a run that has ended or was deleted.
 */
export async function beginRun(env: Env, parameters: RunParameters, now: number): Promise<number> {
  const { account, period, db } = await findRunAccount(env, parameters)
  const { run: id } = parameters
  await beginReading(db, { account: account.id, id, active_at: new Date(now).toISOString() })
  const stored = await findRun(db, account.id, id)
  if (stored?.status !== 'running') return 0
  if (stored.steps !== null) return stored.steps
  const opened = await readAccount(env, account)
  const steps = await planSteps(await openAccount(opened, await lastOfRun(opened, period)))
  return storeSteps(db, account.id, id, steps)
}

/** Makes one step of a run. */
export async function makeStep(
  env: Env,
  parameters: RunParameters,
  step: number,
  now: number,
): Promise<void> {
  const { account, period, db } = await findRunAccount(env, parameters)
  const stored = { account: account.id, id: parameters.run, step }
  const affiliates = await beginStep(db, stored, new Date(now).toISOString())
  if (affiliates.length === 0) return
  const position = await raisePosition(db, account.id)
  const read = await readAccount(env, account)
  const opened = await openAccount(read, await lastOfRun(read, period))
  await storeStatements(opened, affiliates, stored, { readAt: now, position })
  await endStep(db, stored)
}

/**
 * Ends a run, and deletes the account's runs that began more than 30 days ago.
 *
 * @param reason Why it failed; null if it is done. The response of the run shows it.
 */
export async function finishRun(
  env: Env,
  { account: name, run: id, period }: RunParameters,
  now: number,
  reason: string | null = null,
): Promise<void> {
  if (reason !== null) console.error(JSON.stringify({ failed_run: id, account: name, reason }))
  const account = await findAccount(env.DB, name)
  if (!account) return
  const before = firstRunId(now - KEPT_MS)
  const ended_at = new Date(now).toISOString()
  const db = accountDatabase(env, account)
  const outcome = { status: reason === null ? 'done' : 'failed', reason } as const
  const of = parsePeriod(period)
  // Writes `statement.ready` if the period is over; a run that failed writes none.
  const ready = of
    ? [insertReady(db, { account: account.id, run: id, period, periodEnd: endOf(account, of) })]
    : []
  await endRun(db, { account: account.id, id, ...outcome, ended_at, before }, ready)
}

/**
 * Divides the affiliates of an account into steps, so that those with the same customers share a
 * step.
 */
export async function planSteps(account: OpenAccount): Promise<string[][]> {
  const affiliates = await settledAffiliates(account)
  if (affiliates.length === 0) return []
  const counts = await countCustomers(account, account.row.id)
  const inOrder = orderByTree(account, affiliates)
  return divide(dependencies(account), inOrder, (one) => counts.get(one) ?? 0, STEP_LIMITS)
}

/** Returns the affiliates whose statements a run settles. */
async function settledAffiliates(account: OpenAccount): Promise<string[]> {
  const { db, row, inForce, parents, range } = account
  const assigned = parents
    .map(({ affiliate_id }) => affiliate_id)
    .filter((one) => assignmentsOf(inForce, one).length > 0)
  const stored = await affiliatesToSettle(db, row.id, range.period.id)
  return [...new Set([...assigned, ...stored])]
}

/** Orders affiliates so that those with the same uplines follow each other. */
function orderByTree({ tree, range }: OpenAccount, affiliates: readonly string[]): string[] {
  const paths = affiliates.map((affiliate) => {
    const uplines = tree.uplines(affiliate, range.period.last)
    return { affiliate, path: [...uplines.toReversed(), affiliate] }
  })
  return paths.sort((a, b) => comparePaths(a.path, b.path)).map(({ affiliate }) => affiliate)
}

function comparePaths(a: readonly string[], b: readonly string[]): number {
  for (const [i, name] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 1
    if (other !== name) return compareText(name, other)
  }
  return a.length - b.length
}

const TOO_MANY = `${RUN_LIMITS.byHand} runs are running, the maximum. Wait until one of them is done.`

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

const startAt = (now: number) => ({
  started_at: new Date(now).toISOString(),
  running_since: firstRunId(now - DAY_MS),
})

/** Stores a run of a period and starts its Workflow. */
export async function startPeriodRun(
  { env, account: row, db, actor }: Call,
  period: Period,
): Promise<NonNullable<Awaited<ReturnType<typeof findRun>>>> {
  const account = row.id
  const now = Date.now()
  checkBegun(row, period, now)
  const id = newRunId(now)
  const run = { account, id, period: period.id, actor, most: RUN_LIMITS.byHand }
  const isStored = await insertRun(db, { ...run, ...startAt(now) })
  if (!isStored) {
    const headers = { 'Retry-After': String(RUN_LIMITS.retryAfter) }
    throw new ApiError('rate_limited', { detail: TOO_MANY, headers })
  }
  await startWorkflow(env, account, id, period.id)
  const found = await findRun(db, account, id)
  if (!found) throw unavailable(new Error('The run was deleted.'))
  return found
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
    await finishRun(env, params, Date.now(), NOT_STARTED)
    throw unavailable(error)
  }
}

/**
 * Starts a run of an account for each kind of period of its plans: of the period in which the day before `at`
 * lies in the zone of the account's facts, so that the run begins after the last day of a period, and the
 * period can be approved. `planned` is the time in its id, so that a message that arrives twice starts no
 * second run. All are in milliseconds. Returns whether all are started: at most `RUN_LIMITS.ofMorning` runs
 * of a database are running.
 */
export async function startMorningRuns(
  env: Env,
  account: Account,
  { at, planned, now }: { readonly at: number; readonly planned: number; readonly now: number },
): Promise<boolean> {
  const yesterday = dayNumber(dayInZone(bookZoneOf(account), at)) - 1
  const db = accountDatabase(env, account)
  let isStarted = true
  for (const kind of await periodKinds(db, account.id)) {
    const period = periodOf(yesterday, kind).id
    const run = PREFIX + (await ulidOf(planned, JSON.stringify([account.id, period])))
    const own = { account: account.id, id: run, period, actor: null, most: RUN_LIMITS.ofMorning }
    if (!(await insertRun(db, { ...own, ...startAt(now) }))) {
      isStarted = false
      continue
    }
    // In contrast to `create`, this does not fail if the Workflow exists.
    const params: RunParameters = { account: account.id, run, period }
    await env.STATEMENT_RUNS.createBatch([{ id: run, params }])
  }
  return isStarted
}

/** Ends the runs of a database that show no activity as failed. */
export const failStalledRuns = (db: D1Database, now: number) =>
  failStalled(db, {
    before: new Date(now - QUIET_MS).toISOString(),
    ended_at: new Date(now).toISOString(),
    reason: STOPPED,
  })
