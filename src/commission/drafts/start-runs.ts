import { insertRuns, periodKinds } from '../../db/commission/runs.ts'
import { resolveDatabase } from '../../db/database.ts'
import { accountPages } from '../../db/directory/accounts.ts'
import { DAY_MS } from '../../durations.ts'
import { periodOf } from '../engine/calendar.ts'
import { newRunId, type RunParameters } from './run.ts'

/** The accounts of a page: at most as many as one call starts runs. */
const PAGE = 50

/**
 * Starts a run for each account with plans and each kind of period: of the period in which yesterday
 * lies, so that the last day of a period is complete.
 */
export async function startRuns(
  env: Env,
  now: number,
  guard: (label: string, start: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const yesterday = Math.floor(now / DAY_MS) - 1
  for await (const page of accountPages(env.DB, PAGE)) {
    for (const [binding, accounts] of Map.groupBy(page, (account) => account.binding)) {
      await guard(binding, async () => {
        const ids = accounts.map(({ id }) => id)
        const db = resolveDatabase(env, binding)
        const kinds = await periodKinds(db, ids)
        const runs = kinds.map(({ account, kind }): RunParameters => {
          return { account, run: newRunId(now), period: periodOf(yesterday, kind).id }
        })
        if (runs.length === 0) return
        // First, so that a run whose Workflow is not created is resumed.
        await insertRuns(db, runs, new Date(now).toISOString())
        await env.STATEMENT_RUNS.createBatch(runs.map((params) => ({ id: params.run, params })))
      })
    }
  }
}
