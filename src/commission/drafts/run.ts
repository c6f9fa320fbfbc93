import { ulid } from 'ulid'
import {
  endRun,
  endStep,
  findRun,
  findStep,
  insertRun,
  storeSteps,
} from '../../db/commission/runs.ts'
import { resolveDatabase } from '../../db/database.ts'
import { findAccount } from '../../db/directory/accounts.ts'
import { withD1Retry } from '../../db/retry.ts'
import type { Account } from '../../db/schema.ts'
import { DAY_MS } from '../../durations.ts'
import { parsePeriod } from '../engine/calendar.ts'
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

async function openRun(
  env: Env,
  { account: id, period: text }: RunParameters,
): Promise<{ account: Account; db: D1Database; computation: Computation }> {
  const account = await findAccount(env.DB, id)
  const period = parsePeriod(text)
  if (!account || !period) throw new Error('The account or the period of the run does not exist.')
  const computation = await openComputation(await openSource(env, account), period)
  return { account, db: resolveDatabase(env, account.binding), computation }
}

/** Stores a run and its steps. Returns the number of steps. A repetition finds those that are stored. */
export async function beginRun(env: Env, parameters: RunParameters, now: number): Promise<number> {
  const { account, db, computation } = await openRun(env, parameters)
  const { run: id, period } = parameters
  const started_at = new Date(now).toISOString()
  await withD1Retry(() => insertRun(db, { account: account.id, id, period, started_at }).run())
  const stored = await findRun(db, account.id, id)
  if (stored && stored.steps !== null) return stored.steps
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
  const before = PREFIX + ulid(now - KEPT_MS).slice(0, 10)
  const ended_at = new Date(now).toISOString()
  const db = resolveDatabase(env, account.binding)
  await endRun(db, { account: account.id, id, status, ended_at, before })
}
