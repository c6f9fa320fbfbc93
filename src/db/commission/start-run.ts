import { newAuditId } from '../directory/audit.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** The condition that a run of the period has read nothing yet. */
const UNREAD = `account = :account and id >= :unread_since and period = :period
    and status = 'running' and affiliates is null`

/** Inserts a run, unless another one will read what it would, or too many are running. */
export const START_RUN = compileStatement(`
  insert into statement_runs (account, id, period, status, started_at)
  select :account, :id, :period, 'running', :started_at
  where not exists (select 1 from statement_runs where ${UNREAD})
    and :most > (select count(*) from statement_runs
      where account = :account and id >= :running_since and status = 'running')
  on conflict (account, id) do nothing`)

/** Adds an entry to the audit log, if the run was inserted. */
const INSERT_AUDIT_OF_RUN = compileStatement(`
  insert into audit_log (id, at, actor, action, account, details)
  select :audit, :started_at, :actor, 'period.run', :account, :details
  from statement_runs where account = :account and id = :id
  on conflict do nothing`)

/** Reads the run that was inserted, or the one that is returned instead. */
export const READ_STARTED = compileStatement(`
  select id from statement_runs where ${UNREAD} order by id = :id desc limit 1`)

/** A run to start. Ids of runs are in order of time. */
export interface NewRun {
  readonly account: string
  readonly id: string
  readonly period: string
  readonly started_at: string
  readonly actor: string
  /** The least id of a run that may be returned instead. */
  readonly unread_since: string
  /**
   * The maximum number of runs of the account that may run at once. Runs with ids before
   * `running_since` do not count.
   */
  readonly most: number
  readonly running_since: string
}

/**
 * Inserts a run and returns its id. Returns the id of another run of the period if that has read nothing
 * yet, and null if too many runs are running.
 */
export async function startRun(db: D1Database, run: NewRun): Promise<string | null> {
  const details = JSON.stringify({ period: run.period, run: run.id })
  const values = { ...run, details, audit: newAuditId() }
  const results = await withD1Retry(() =>
    db.batch<{ id: string }>(
      [START_RUN, INSERT_AUDIT_OF_RUN, READ_STARTED].map((one) => bindStatement(db, one, values)),
    ),
  )
  return results[2]?.results[0]?.id ?? null
}
