import { claimStalled, type StalledRun } from '../../db/commission/stalled-runs.ts'
import { RESUME_LIMITS } from './limits.ts'
import { failRun, type RunParameters } from './run.ts'
import { ENDED, NO_PROGRESS } from './run-failure.ts'

/**
 * Restarts the Workflow of each run that has stopped. The Workflow skips the steps that are stored as
 * done. A run that makes no progress after several restarts, or whose Workflow has failed, ends as failed.
 */
export async function resumeRuns(
  env: Env,
  db: D1Database,
  now: number,
  guard: (resume: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const stalled = await claimStalled(db, {
    before: new Date(now - RESUME_LIMITS.quietMs).toISOString(),
    active_at: new Date(now).toISOString(),
    most: RESUME_LIMITS.runs,
  })
  for (const run of stalled) await guard(() => resumeRun(env, run, now))
}

async function resumeRun(
  env: Env,
  { account, id, period, restarts }: StalledRun,
  now: number,
): Promise<void> {
  const params: RunParameters = { account, run: id, period }
  console.warn(JSON.stringify({ resumed_run: id, account, restarts }))
  if (restarts > RESUME_LIMITS.restarts) return failRun(env, params, NO_PROGRESS, now)
  const instance = await env.STATEMENT_RUNS.get(id).catch(() => null)
  if (instance === null) {
    // The Worker ended after it stored the run and before it created the instance. If the instance does
    // exist but could not be reached, `create` fails, and the next claim tries again.
    await env.STATEMENT_RUNS.create({ id, params })
    return
  }
  const { status } = await instance.status()
  const reason = ENDED[status]
  if (reason !== undefined) return failRun(env, params, reason, now)
  await instance.restart()
}
