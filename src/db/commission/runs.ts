import { all, only } from '../query.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import type { statementRuns } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { isDraft, isOfKind } from './books/is-draft.ts'

/** A run over the affiliates of an account. */
export type Run = Omit<typeof statementRuns.$inferSelect, 'account' | 'restarts'>

/** A run with the number of its steps that are done, and what they wrote. */
export interface RunProgress extends Run {
  readonly steps_done: number
}

/** Stores runs that are about to start. */
export const INSERT_RUNS = compileStatement(`
  insert into statement_runs (account, id, period, status, started_at)
  select value ->> 0, value ->> 1, value ->> 2, 'running', :started_at from ${JSON_EACH}(:rows)
  where true on conflict (account, id) do nothing`)

/** Stores runs that are about to start. */
export const insertRuns = (
  db: D1Database,
  runs: readonly { account: string; run: string; period: string }[],
  started_at: string,
) => {
  const rows = JSON.stringify(runs.map(({ account, run, period }) => [account, run, period]))
  return withD1Retry(() => bindStatement(db, INSERT_RUNS, { rows, started_at }).run())
}

/** Stores that a run reads from now on, with 0 affiliates until its steps are known. */
export const BEGIN_READING = compileStatement(`
  update statement_runs set affiliates = ifnull(affiliates, 0), active_at = :active_at
  where account = :account and id = :id and status = 'running'`)

/** Stores that a run reads from now on. */
export const beginReading = (
  db: D1Database,
  run: { account: string; id: string; active_at: string },
) => withD1Retry(() => bindStatement(db, BEGIN_READING, run).run())

/** Reads a run with its progress. */
export const FIND_RUN = compileStatement(`
  select r.id, r.period, r.status, iif(r.steps is null, null, r.affiliates) as affiliates, r.steps,
    r.started_at, max(r.active_at, r.started_at) as active_at, r.ended_at, r.reason,
    ifnull(r.changed, (
      select sum(ifnull(s.changed, s.written)) from statement_run_steps s
      where s.account = :account and s.run = :id
    )) as changed,
    coalesce(r.steps_done, iif(r.status = 'done', r.steps, (
      select count(*) from statement_run_steps s
      where s.account = :account and s.run = :id and s.changed is not null
    ))) as steps_done
  from statement_runs r where r.account = :account and r.id = :id`)

/** Returns a run of an account; null if there is none. */
export const findRun = (
  db: Pick<D1DatabaseSession, 'prepare'>,
  account: string,
  id: string,
): Promise<RunProgress | null> =>
  withD1Retry(() => bindStatement(db, FIND_RUN, { account, id }).first<RunProgress>())

/** Ends a run, and stores what its steps have done. */
export const END_RUN = compileStatement(`
  update statement_runs set status = :status, ended_at = :ended_at, reason = :reason,
    (changed, steps_done) = (
      select ifnull(sum(ifnull(changed, written)), 0), count(changed)
      from statement_run_steps where account = :account and run = :id)
  where account = :account and id = :id and status = 'running'`)

/** Deletes the steps of a run. */
export const DELETE_STEPS = compileStatement(
  'delete from statement_run_steps where account = :account and run = :id',
)

/** Deletes ended runs whose ids are before `:before`; ids are in order of time. */
export const DELETE_OLD_RUNS = compileStatement(`
  delete from statement_runs
  where account = :account and id < :before and status <> 'running'`)

/** Ends a run, deletes its steps and the ended runs with ids before `before`, and writes its events. */
export const endRun = (
  db: D1Database,
  run: {
    account: string
    id: string
    status: 'done' | 'failed'
    /** Why it failed; null if it is done. */
    reason: string | null
    ended_at: string
    before: string
  },
  events: readonly D1PreparedStatement[],
) =>
  withD1Retry(() =>
    db.batch([
      ...[END_RUN, DELETE_STEPS, DELETE_OLD_RUNS].map((one) => bindStatement(db, one, run)),
      ...events,
    ]),
  )

/**
 * Reads the affiliates whose statements a run settles even if no plan is assigned to them: those with a
 * statement of its period, with a draft of any period of its kind, or with a manual entry that waits.
 */
export const AFFILIATES_TO_SETTLE = compileStatement(`
  select affiliate_id from statements where account = :account and period = :period
  union
  select affiliate_id from statements indexed by statements_status
  where account = :account and ${isDraft('status')} and ${isOfKind('period')}
  union
  select affiliate_id from manual_entries indexed by manual_entries_open
  where account = :account and statement is null`)

/** Returns the affiliates whose statements a run of a period settles without an assignment. */
export async function affiliatesToSettle(
  db: Pick<D1DatabaseSession, 'prepare'>,
  account: string,
  period: string,
): Promise<string[]> {
  const results = await all<{ affiliate_id: string }>(db, AFFILIATES_TO_SETTLE, {
    account,
    period,
  })
  return results.map(({ affiliate_id }) => affiliate_id)
}

/** Reads the last period of a kind that has a draft. */
export const LAST_DRAFT_PERIOD = compileStatement(`
  select max(period) as period from statements indexed by statements_status
  where account = :account and ${isDraft('status')} and ${isOfKind('period')}`)

/** Returns the last period of the kind of `period` that has a draft; null if there is none. */
export async function lastDraftPeriod(
  db: Pick<D1DatabaseSession, 'prepare'>,
  account: string,
  period: string,
): Promise<string | null> {
  const row = await only<{ period: string | null }>(db, LAST_DRAFT_PERIOD, { account, period })
  return row.period
}

/** Reads which kinds of periods the plans of accounts have. */
export const PERIOD_KINDS = compileStatement(`
  select distinct v.account, v.terms ->> 'period' as kind
  from ${JSON_EACH}(:accounts) a
  cross join plan_versions v on v.account = a.value and v.withdrawn_at is null`)

/** Returns which kinds of periods the plans of some accounts have. */
export async function periodKinds(
  db: D1Database,
  accounts: readonly string[],
): Promise<{ account: string; kind: 'month' | 'week' }[]> {
  const values = { accounts: JSON.stringify(accounts) }
  return all<{ account: string; kind: 'month' | 'week' }>(db, PERIOD_KINDS, values)
}
