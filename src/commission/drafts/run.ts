import { ulid } from 'ulid'
import {
  beginReading,
  endRun,
  endStep,
  findRun,
  findStep,
  storeSteps,
} from '../../db/commission/runs.ts'
import { resolveDatabase } from '../../db/database.ts'
import { findAccount } from '../../db/directory/accounts.ts'
import { withD1Retry } from '../../db/retry.ts'
import type { Account } from '../../db/schema.ts'
import { DAY_MS } from '../../durations.ts'
import { type Period, parsePeriod } from '../engine/calendar.ts'
import { openSource } from '../facts/source.ts'
import type { Computation } from './computation.ts'
import { openComputation } from './compute.ts'
import { planSteps } from './pack.ts'
import { refreshDrafts } from './store.ts'

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
export const firstRunId = (now: number): string => PREFIX + ulid(now).slice(0, 10)

async function findRunAccount(
  env: Env,
  { account: id, period: text }: RunParameters,
): Promise<{ account: Account; period: Period; db: D1Database }> {
  const account = await findAccount(env.DB, id)
  const period = parsePeriod(text)
  if (!account || !period) throw new Error('The account or the period of the run does not exist.')
  return { account, period, db: resolveDatabase(env, account.binding) }
}

async function openRun(
  env: Env,
  parameters: RunParameters,
): Promise<{ account: Account; db: D1Database; computation: Computation }> {
  const { account, period, db } = await findRunAccount(env, parameters)
  return { account, db, computation: await openComputation(await openSource(env, account), period) }
}

/** Stores a run and its steps. Returns the number of steps. A repetition finds those that are stored. */
export async function beginRun(env: Env, parameters: RunParameters, now: number): Promise<number> {
  const { account, db } = await findRunAccount(env, parameters)
  const { run: id, period } = parameters
  const started_at = new Date(now).toISOString()
  await withD1Retry(() => beginReading(db, { account: account.id, id, period, started_at }).run())
  const stored = await findRun(db, account.id, id)
  if (stored && stored.steps !== null) return stored.steps
  const { computation } = await openRun(env, parameters)
  const steps = await planSteps(computation)
  await storeSteps(db, account.id, id, steps)
  return steps.length
}

/** Makes one step of a run. Returns the number of statements that it changed. */
export async function makeStep(
  env: Env,
  parameters: RunParameters,
  step: number,
  now: number,
): Promise<number> {
  const { account, db, computation } = await openRun(env, parameters)
  const { run: id } = parameters
  const found = await findStep(db, account.id, id, step)
  if (!found) return 0
  if (found.changed !== null) return found.changed
  const changed = await refreshDrafts(computation, found.affiliates, now)
  await withD1Retry(() => endStep(db, { account: account.id, id, step, changed }).run())
  return changed
}

/** Ends a run. Runs of more than 30 days ago are deleted. */
export async function finishRun(
  env: Env,
  { account: name, run: id }: RunParameters,
  status: 'done' | 'failed',
  now: number,
): Promise<void> {
  const account = await findAccount(env.DB, name)
  if (!account) return
  const before = firstRunId(now - KEPT_MS)
  const ended_at = new Date(now).toISOString()
  const db = resolveDatabase(env, account.binding)
  await endRun(db, { account: account.id, id, status, ended_at, before })
}
