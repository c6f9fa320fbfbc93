import { POSITION, RAISE_NUMBER } from '../../ingest/db/changed.ts'
import type { Connection } from '../../platform/db/database.ts'
import { isDoorOpen } from '../../platform/db/door.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { all, first, only } from '../../platform/db/query.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import type { statementRuns } from '../../platform/db/schema.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { newAuditId } from '../../platform/directory/audit.ts'
import { eventOf } from '../../webhooks/db/events.ts'
import { isDraft, isOfKind } from './is-draft.ts'

/** A run over the affiliates of an account. */
export type Run = Omit<typeof statementRuns.$inferSelect, 'account' | 'position'>

/** Inserts a run, unless it is stored or too many are running. */
const INSERT_RUN = compileStatement(`
  insert into statement_runs (account, id, period, status, started_at, active_at)
  select :account, :id, :period, 'running', :started_at, :started_at
  where :most > (select count(*) from statement_runs indexed by statement_runs_running
    where status = 'running' and id >= :running_since)
  on conflict (account, id) do nothing`)

/** Adds an entry to the audit log, if the run was inserted. */
const INSERT_AUDIT_OF_RUN = compileStatement(`
  insert into audit_log (id, at, actor, action, account, details)
  select :audit, :started_at, :actor, 'period.run', :account, :details
  from statement_runs where account = :account and id = :id
  on conflict do nothing`)

const HAS_RUN = compileStatement(
  'select count(*) as n from statement_runs where account = :account and id = :id',
)

/** A run to start. Ids of runs are in order of time. */
interface NewRun {
  readonly account: string
  readonly id: string
  readonly period: string
  readonly started_at: string
  /** Who has started it; null: the cron. */
  readonly actor: string | null
  /** The most runs of the database that may run at once. Runs with ids before `running_since` do not count. */
  readonly most: number
  readonly running_since: string
}

/** Inserts a run. Returns whether it is stored: it is not if too many are running. */
export async function insertRun(db: D1Database, run: NewRun): Promise<boolean> {
  const details = JSON.stringify({ period: run.period, run: run.id })
  const values = { ...run, details, audit: newAuditId() }
  const audit = run.actor === null ? [] : [INSERT_AUDIT_OF_RUN]
  const results = await withD1Retry(() =>
    db.batch<{ n: number }>(
      [INSERT_RUN, ...audit, HAS_RUN].map((one) => bindStatement(db, one, values)),
    ),
  )
  return results.at(-1)?.results[0]?.n === 1
}

/** Stores that a run reads from now on, and its position when it first did. */
const BEGIN_READING = compileStatement(`
  update statement_runs set active_at = :active_at, position = ifnull(position, ${POSITION})
  where account = :account and id = :id and status = 'running'`)

/** Stores that a run reads from now on. */
export const beginReading = (
  db: D1Database,
  run: { account: string; id: string; active_at: string },
) =>
  withD1Retry(() =>
    db.batch([RAISE_NUMBER, BEGIN_READING].map((one) => bindStatement(db, one, run))),
  )

const FIND_RUN = compileStatement(`
  select id, period, status, affiliates, steps, steps_done, started_at, active_at, ended_at, reason
  from statement_runs where account = :account and id = :id`)

/** Returns a run of an account; null if there is none. */
export const findRun = (db: Connection, account: string, id: string): Promise<Run | null> =>
  first<Run>(db, FIND_RUN, { account, id })

/** Ends a run. */
const END_RUN = compileStatement(`
  update statement_runs set status = :status, ended_at = :ended_at, reason = :reason
  where account = :account and id = :id and status = 'running'`)

/** Deletes the steps of a run. */
const DELETE_STEPS = compileStatement(
  'delete from statement_run_steps where account = :account and run = :id',
)

/** Deletes ended runs whose ids are before `:before`; ids are in order of time. */
const DELETE_OLD_RUNS = compileStatement(`
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
const AFFILIATES_TO_SETTLE = compileStatement(`
  select affiliate_id from statements where account = :account and period = :period
  union
  select affiliate_id from statements indexed by statements_status
  where account = :account and ${isDraft('status')} and ${isOfKind('period')}
  union
  select affiliate_id from manual_entries indexed by manual_entries_open
  where account = :account and statement is null`)

/** Returns the affiliates whose statements a run of a period settles without an assignment. */
export async function affiliatesToSettle(
  db: Connection,
  account: string,
  period: string,
): Promise<string[]> {
  const values = { account, period }
  const rows = await all<{ affiliate_id: string }>(db, AFFILIATES_TO_SETTLE, values)
  return rows.map(({ affiliate_id }) => affiliate_id)
}

/** Reads the last period of a kind that has a draft. */
const LAST_DRAFT_PERIOD = compileStatement(`
  select max(period) as period from statements indexed by statements_status
  where account = :account and ${isDraft('status')} and ${isOfKind('period')}`)

/** Returns the last period of the kind of `period` that has a draft; null if there is none. */
export async function lastDraftPeriod(
  db: Connection,
  account: string,
  period: string,
): Promise<string | null> {
  const row = await only<{ period: string | null }>(db, LAST_DRAFT_PERIOD, { account, period })
  return row.period
}

/** Reads which kinds of periods the plans of an account have. */
const PERIOD_KINDS = compileStatement(`
  select distinct terms ->> 'period' as kind from plan_versions
  where account = :account and withdrawn_at is null`)

/** Returns which kinds of periods the plans of an account have. */
export async function periodKinds(db: D1Database, account: string): Promise<('month' | 'week')[]> {
  const rows = await all<{ kind: 'month' | 'week' }>(db, PERIOD_KINDS, { account })
  return rows.map(({ kind }) => kind)
}

/** The key of a step of a run. */
export interface RunStep {
  readonly account: string
  /** The id of the run. */
  readonly id: string
  readonly step: number
}

/** Whether a run is running and its steps are not known yet. */
const IS_PLANNING = `exists (
    select 1 from statement_runs
    where account = :account and id = :id and status = 'running' and steps is null)`

/** Stores the steps of a run, unless they are stored. */
const INSERT_STEPS = compileStatement(`
  insert into statement_run_steps (account, run, step, affiliates)
  select :account, :id, value ->> 0, value ->> 1 from ${JSON_EACH}(:rows) where ${IS_PLANNING}
  on conflict (account, run, step) do nothing`)

/** Stores how many steps a run has. */
const PUT_STEP_COUNT = compileStatement(`
  update statement_runs set steps = :steps, affiliates = :affiliates
  where account = :account and id = :id and status = 'running' and steps is null`)

/** Reads how many steps a run has. */
const READ_STEP_COUNT = compileStatement(`
  select steps from statement_runs where account = :account and id = :id and status = 'running'`)

/**
 * Stores the affiliates of each step of a run at once, unless its steps are stored. Returns how many
 * steps are stored: 0 if the run is not running.
 */
export async function storeSteps(
  db: D1Database,
  account: string,
  id: string,
  steps: readonly (readonly string[])[],
): Promise<number> {
  const affiliates = steps.reduce((sum, { length }) => sum + length, 0)
  const bind = (statement: typeof INSERT_STEPS, more: object) =>
    bindStatement(db, statement, { account, id, ...more })
  const results = await withD1Retry(() =>
    db.batch<{ steps: number }>([
      ...toJsonChunks(steps.map((step, i) => [i + 1, JSON.stringify(step)])).map((rows) =>
        bind(INSERT_STEPS, { rows }),
      ),
      bind(PUT_STEP_COUNT, { steps: steps.length, affiliates }),
      bind(READ_STEP_COUNT, {}),
    ]),
  )
  return results.at(-1)?.results[0]?.steps ?? 0
}

/** Reads a step, which is not done, of a run that is running. */
const FIND_STEP = compileStatement(`
  select s.affiliates from statement_run_steps s
  join statement_runs r on r.account = :account and r.id = :id and r.status = 'running'
  where s.account = :account and s.run = :id and s.step = :step and s.is_done = 0`)

/**
 * Stores that an attempt of a step begins. Returns its affiliates; none if it is done, there is none, or the run has
 * ended.
 */
export async function beginStep(
  db: D1Database,
  step: RunStep,
  active_at: string,
): Promise<readonly string[]> {
  const results = await withD1Retry(() =>
    db.batch<{ affiliates: string }>([
      bindStatement(db, BEGIN_READING, { ...step, active_at }),
      bindStatement(db, FIND_STEP, { ...step }),
    ]),
  )
  const row = results[1]?.results[0]
  return row ? JSON.parse(row.affiliates) : []
}

/** Marks a step as done. */
const END_STEP = compileStatement(`
  update statement_run_steps set is_done = 1
  where account = :account and run = :id and step = :step and is_done = 0`)

/** Counts the step if the statement before has marked it. */
const COUNT_STEP = compileStatement(`
  update statement_runs set steps_done = steps_done + 1
  where account = :account and id = :id and changes() > 0`)

/** Marks a step as done. */
export const endStep = (db: D1Database, step: RunStep) =>
  withD1Retry(() =>
    db.batch([END_STEP, COUNT_STEP].map((one) => bindStatement(db, one, { ...step }))),
  )

/** Ends runs that have not been active since `:before`, and deletes their steps. */
const FAIL_STALLED = [
  `update statement_runs set status = 'failed', ended_at = :ended_at, reason = :reason
    where status = 'running' and active_at < :before and ${isDoorOpen('account')}`,
  `delete from statement_run_steps where (account, run) in (
    select account, id from statement_runs where status = 'failed' and ended_at = :ended_at)`,
].map(compileStatement)

/** Ends runs of a database that have stopped. Times are ISO 8601. */
export const failStalled = (
  db: D1Database,
  values: { before: string; ended_at: string; reason: string },
) => withD1Retry(() => db.batch(FAIL_STALLED.map((one) => bindStatement(db, one, values))))

/** Writes `statement.ready` for the drafts of a period that is over, once for each hash. */
const INSERT_READY = eventOf(
  'statement.ready',
  `select s.id || ' ' || s.hash as about, json_object(
      'statement_id', s.id, 'affiliate_id', s.affiliate_id, 'plan', s.plan, 'period', s.period,
      'currency', s.statement ->> 'currency', 'total', s.statement ->> 'total',
      'payable', s.payable, 'hash', s.hash) as data
    from statements s
    where s.account = :account and s.period = :period and s.status = 'draft'
      and s.statement is not null
      and exists (select 1 from statement_runs r
        where r.account = :account and r.id = :run and r.status = 'done'
          and r.started_at >= :period_end)`,
)

/**
 * Returns the statement that writes `statement.ready` when a run ends, if it began after the end of its
 * period (milliseconds). It belongs to the batch that ends the run.
 */
export const insertReady = (
  db: D1Database,
  run: { account: string; run: string; period: string; periodEnd: number },
) => bindStatement(db, INSERT_READY, { ...run, period_end: new Date(run.periodEnd).toISOString() })
