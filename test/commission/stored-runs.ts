import { env } from 'cloudflare:workers'
import { endStep, insertRun, storeSteps } from '../../src/commission/db/runs.ts'
import { storeStatements } from '../../src/commission/run/morning.ts'
import { newRunId, type RunParameters } from '../../src/commission/run/runs.ts'
import { raisePosition } from '../../src/ingest/db/changed.ts'
import { resolveDatabase } from '../../src/platform/db/database.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { accountOf } from './stored.ts'

/** Returns the database of an account's records. */
async function databaseOf(account: string): Promise<D1Database> {
  const row = await findAccount(env.DB, account)
  if (!row) throw new Error('There is no such account.')
  return resolveDatabase(env as Env, row.binding)
}

/** Stores a run that is about to start. Returns what its Workflow knows. */
export async function storeStarted(
  account: string,
  period: string,
  run = newRunId(Date.now()),
): Promise<RunParameters> {
  const [started_at, most] = [new Date().toISOString(), Number.MAX_SAFE_INTEGER]
  const limits = { most, running_since: '' }
  const stored = { account, id: run, period, started_at, actor: null, ...limits }
  await insertRun(await databaseOf(account), stored)
  return { account, run, period }
}

/**
 * Computes the drafts of affiliates up to a period and stores them, as a run of one step does, which
 * leaves no run behind.
 */
export async function storeDrafts(
  account: string,
  period: string,
  affiliates: readonly string[],
): Promise<void> {
  const { run: id } = await storeStarted(account, period)
  const db = await databaseOf(account)
  const step = { account, id, step: 1 }
  await storeSteps(db, account, id, [affiliates])
  const position = await raisePosition(db, account)
  const opened = await accountOf(account, period)
  await storeStatements(opened, affiliates, step, { readAt: Date.now(), position })
  await endStep(db, step)
  await db.batch([
    db.prepare('delete from statement_run_steps where account = ? and run = ?').bind(account, id),
    db.prepare('delete from statement_runs where account = ? and id = ?').bind(account, id),
  ])
}
