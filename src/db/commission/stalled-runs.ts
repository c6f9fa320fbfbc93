import { all } from '../query.ts'
import { compileStatement } from '../statement.ts'

/** A run that has not been active for a while. */
export interface StalledRun {
  readonly account: string
  readonly id: string
  readonly period: string
  /** How often its Workflow was restarted since a step last ended, this restart included. */
  readonly restarts: number
}

/**
 * Claims at most `:most` runs that have not been active since `:before`, the longest inactive first. A
 * claim counts as activity, so that two jobs never claim the same run.
 */
export const CLAIM_STALLED = compileStatement(`
  update statement_runs set active_at = :active_at, restarts = restarts + 1
  where (account, id) in (
    select account, id from statement_runs indexed by statement_runs_running
    where status = 'running' and active_at < :before and started_at < :before
    order by active_at limit :most)
  returning account, id, period, restarts`)

/** Claims runs of a database that have stopped, and returns them. Times are ISO 8601. */
export async function claimStalled(
  db: D1Database,
  claim: { before: string; active_at: string; most: number },
): Promise<StalledRun[]> {
  return all<StalledRun>(db, CLAIM_STALLED, claim)
}
