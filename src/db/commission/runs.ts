import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import type { statementRuns } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** A run over the affiliates of an account. */
export type Run = Omit<typeof statementRuns.$inferSelect, 'account'>

/** A run with the number of its steps that are done, and what they wrote. */
export interface RunProgress extends Run {
  readonly steps_done: number
}

/** Stores that a run reads from now on, with 0 affiliates until its steps are known. */
export const BEGIN_READING = compileStatement(`
  insert into statement_runs (account, id, period, status, affiliates, started_at)
  values (:account, :id, :period, 'running', 0, :started_at)
  on conflict (account, id) do update set affiliates = 0 where affiliates is null`)

/** Returns the statement that stores that a run reads from now on. */
export const beginReading = (
  db: D1Database,
  run: { account: string; id: string; period: string; started_at: string },
) => bindStatement(db, BEGIN_READING, run)

/** Reads a run with its progress. */
export const FIND_RUN = compileStatement(`
  select r.id, r.period, r.status, iif(r.steps is null, null, r.affiliates) as affiliates, r.steps, r.started_at, r.ended_at,
    ifnull(r.changed, (
      select sum(s.changed) from statement_run_steps s where s.account = :account and s.run = :id
    )) as changed,
    iif(r.status = 'done', r.steps, (
      select count(*) from statement_run_steps s
      where s.account = :account and s.run = :id and s.changed is not null
    )) as steps_done
  from statement_runs r where r.account = :account and r.id = :id`)

/** Returns a run of an account; null if there is none. */
export const findRun = (
  db: Pick<D1DatabaseSession, 'prepare'>,
  account: string,
  id: string,
): Promise<RunProgress | null> =>
  withD1Retry(() => bindStatement(db, FIND_RUN, { account, id }).first<RunProgress>())

/** Stores the steps of a run, unless they are stored. */
export const INSERT_STEPS = compileStatement(`
  insert into statement_run_steps (account, run, step, affiliates)
  select :account, :id, value ->> 0, value ->> 1 from ${JSON_EACH}(:rows) where true
  on conflict (account, run, step) do nothing`)

/** Stores how many steps a run has. */
export const PUT_STEP_COUNT = compileStatement(`
  update statement_runs set steps = :steps, affiliates = :affiliates
  where account = :account and id = :id and steps is null`)

/** The characters of steps that one statement stores. */
const CHUNK_CHARACTERS = 1_500_000

/** Stores the affiliates of each step of a run, in place of what an interrupted attempt stored. */
export async function storeSteps(
  db: D1Database,
  account: string,
  id: string,
  steps: readonly (readonly string[])[],
): Promise<void> {
  const rows = steps.map((affiliates, i) => [i + 1, JSON.stringify(affiliates)] as const)
  await withD1Retry(() => bindStatement(db, DELETE_STEPS, { account, id }).run())
  let chunk: (typeof rows)[number][] = []
  let characters = 0
  const store = async () => {
    const values = { account, id, rows: JSON.stringify(chunk) }
    await withD1Retry(() => bindStatement(db, INSERT_STEPS, values).run())
  }
  for (const row of rows) {
    if (chunk.length > 0 && characters + row[1].length > CHUNK_CHARACTERS) {
      await store()
      chunk = []
      characters = 0
    }
    chunk.push(row)
    characters += row[1].length
  }
  if (chunk.length > 0) await store()
  const affiliates = steps.reduce((sum, { length }) => sum + length, 0)
  await withD1Retry(() =>
    bindStatement(db, PUT_STEP_COUNT, { account, id, steps: steps.length, affiliates }).run(),
  )
}

/** Reads a step of a run. */
export const FIND_STEP = compileStatement(`
  select affiliates, changed from statement_run_steps
  where account = :account and run = :id and step = :step`)

/** Returns the affiliates of a step, and how many statements it wrote if it is done; null if there is none. */
export async function findStep(
  db: D1Database,
  account: string,
  id: string,
  step: number,
): Promise<{ affiliates: string[]; changed: number | null } | null> {
  const row = await withD1Retry(() =>
    bindStatement(db, FIND_STEP, { account, id, step }).first<{
      affiliates: string
      changed: number | null
    }>(),
  )
  return row && { affiliates: JSON.parse(row.affiliates), changed: row.changed }
}

/** Marks a step as done. */
export const END_STEP = compileStatement(`
  update statement_run_steps set changed = :changed
  where account = :account and run = :id and step = :step and changed is null`)

/** Returns the statement that marks a step as done. */
export const endStep = (
  db: D1Database,
  step: { account: string; id: string; step: number; changed: number },
) => bindStatement(db, END_STEP, step)

/** Ends a run, and stores how many statements its steps wrote. */
export const END_RUN = compileStatement(`
  update statement_runs set status = :status, ended_at = :ended_at, changed = (
    select ifnull(sum(changed), 0) from statement_run_steps where account = :account and run = :id)
  where account = :account and id = :id and status = 'running'`)

/** Deletes the steps of a run. */
export const DELETE_STEPS = compileStatement(
  'delete from statement_run_steps where account = :account and run = :id',
)

/** Deletes ended runs whose ids are before `:before`; ids are in order of time. */
export const DELETE_OLD_RUNS = compileStatement(`
  delete from statement_runs
  where account = :account and id < :before and status <> 'running'`)

/** Ends a run, and deletes its steps and the ended runs with ids before `before`. */
export const endRun = (
  db: D1Database,
  run: {
    account: string
    id: string
    status: 'done' | 'failed'
    ended_at: string
    before: string
  },
) =>
  withD1Retry(() =>
    db.batch([END_RUN, DELETE_STEPS, DELETE_OLD_RUNS].map((one) => bindStatement(db, one, run))),
  )

/** Reads the affiliates that have statements of a period. */
export const AFFILIATES_WITH_STATEMENTS = compileStatement(`
  select distinct affiliate_id from statements where account = :account and period = :period`)

/** Returns the affiliates that have statements of a period. */
export async function affiliatesWithStatements(
  db: Pick<D1DatabaseSession, 'prepare'>,
  account: string,
  period: string,
): Promise<string[]> {
  const { results } = await withD1Retry(() =>
    bindStatement(db, AFFILIATES_WITH_STATEMENTS, { account, period }).all<{
      affiliate_id: string
    }>(),
  )
  return results.map(({ affiliate_id }) => affiliate_id)
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
  const { results } = await withD1Retry(() =>
    bindStatement(db, PERIOD_KINDS, values).all<{ account: string; kind: 'month' | 'week' }>(),
  )
  return results
}
