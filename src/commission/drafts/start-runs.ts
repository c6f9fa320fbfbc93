import { insertRuns, periodKinds } from '../../db/commission/runs.ts'
import { resolveDatabase } from '../../db/database.ts'
import { accountPages } from '../../db/directory/accounts.ts'
import { bookZoneOf, dayInZone } from '../../zone.ts'
import { dayNumber, periodOf } from '../engine/calendar.ts'
import { newRunId, type RunParameters } from './run.ts'

/** The accounts of a page: at most as many as one call starts runs. */
const PAGE = 50

/**
 * Starts a run for each account with plans and each kind of period: of the period in which yesterday
 * lies in the zone of the account's facts, so that the run begins after the last day of a period, and the
 * period can be approved.
 */
export async function startRuns(
  env: Env,
  now: number,
  guard: (label: string, start: () => Promise<void>) => Promise<void>,
): Promise<void> {
  for await (const page of accountPages(env.DB, PAGE)) {
    for (const [binding, accounts] of Map.groupBy(page, (account) => account.binding)) {
      await guard(binding, async () => {
        const yesterdays = new Map(
          accounts.map((one) => [one.id, dayNumber(dayInZone(bookZoneOf(one), now)) - 1]),
        )
        const db = resolveDatabase(env, binding)
        const kinds = await periodKinds(db, [...yesterdays.keys()])
        const runs = kinds.map(({ account, kind }): RunParameters => {
          const period = periodOf(yesterdays.get(account) ?? 0, kind)
          return { account, run: newRunId(now), period: period.id }
        })
        if (runs.length === 0) return
        // First, so that a run whose Workflow is not created is resumed.
        await insertRuns(db, runs, new Date(now).toISOString())
        await env.STATEMENT_RUNS.createBatch(runs.map((params) => ({ id: params.run, params })))
      })
    }
  }
}
