import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

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
export const INSERT_STEPS = compileStatement(`
  insert into statement_run_steps (account, run, step, affiliates)
  select :account, :id, value ->> 0, value ->> 1 from ${JSON_EACH}(:rows) where ${IS_PLANNING}
  on conflict (account, run, step) do nothing`)

/** Stores how many steps a run has. */
export const PUT_STEP_COUNT = compileStatement(`
  update statement_runs set steps = :steps, affiliates = :affiliates
  where account = :account and id = :id and status = 'running' and steps is null`)

/** Reads how many steps a run has. */
export const READ_STEP_COUNT = compileStatement(`
  select steps from statement_runs where account = :account and id = :id and status = 'running'`)

/** The characters of steps that one statement stores. */
const CHUNK_CHARACTERS = 1_500_000

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
      ...chunksOf(steps).map((rows) => bind(INSERT_STEPS, { rows })),
      bind(PUT_STEP_COUNT, { steps: steps.length, affiliates }),
      bind(READ_STEP_COUNT, {}),
    ]),
  )
  return results.at(-1)?.results[0]?.steps ?? 0
}

/** Returns numbered steps as JSON, in texts of bounded size. */
function chunksOf(steps: readonly (readonly string[])[]): string[] {
  const chunks: string[][] = []
  let characters = 0
  steps.forEach((affiliates, i) => {
    const row = JSON.stringify([i + 1, JSON.stringify(affiliates)])
    const chunk = chunks.at(-1)
    if (chunk && characters + row.length <= CHUNK_CHARACTERS) {
      chunk.push(row)
      characters += row.length
    } else {
      chunks.push([row])
      characters = row.length
    }
  })
  return chunks.map((rows) => `[${rows.join()}]`)
}

/** Stores that an attempt of a step begins. */
export const BEGIN_STEP = compileStatement(`
  update statement_runs set active_at = :active_at
  where account = :account and id = :id and status = 'running'`)

/** Reads a step of a run that is running. */
export const FIND_STEP = compileStatement(`
  select s.affiliates, s.changed from statement_run_steps s
  join statement_runs r on r.account = :account and r.id = :id and r.status = 'running'
  where s.account = :account and s.run = :id and s.step = :step`)

/** The affiliates of a step, and how many statements it wrote if it is done. */
export interface FoundStep {
  readonly affiliates: readonly string[]
  readonly changed: number | null
}

/**
 * Stores that an attempt of a step begins. Returns the step; null if there is none, or the run has
 * ended.
 */
export async function beginStep(
  db: D1Database,
  step: RunStep,
  active_at: string,
): Promise<FoundStep | null> {
  const results = await withD1Retry(() =>
    db.batch<{ affiliates: string; changed: number | null }>([
      bindStatement(db, BEGIN_STEP, { ...step, active_at }),
      bindStatement(db, FIND_STEP, { ...step }),
    ]),
  )
  const row = results[1]?.results[0]
  return row ? { affiliates: JSON.parse(row.affiliates), changed: row.changed } : null
}

/**
 * Adds to a step the number of rows that the previous statement of the batch has written. A repeated
 * batch writes nothing, and so adds nothing.
 */
export const COUNT_WRITTEN = compileStatement(`
  update statement_run_steps set written = written + changes()
  where account = :account and run = :id and step = :step and changed is null and changes() > 0`)

/** Marks a step as done. */
export const END_STEP = compileStatement(`
  update statement_run_steps set changed = written
  where account = :account and run = :id and step = :step and changed is null`)

/** Stores that a run has made progress since its Workflow was last started. */
export const NOTE_PROGRESS = compileStatement(`
  update statement_runs set restarts = 0 where account = :account and id = :id and restarts > 0`)

/** Reads how many statements a step has written. */
export const READ_CHANGED = compileStatement(`
  select changed from statement_run_steps
  where account = :account and run = :id and step = :step`)

/** Marks a step as done. Returns how many statements it has written. */
export async function endStep(db: D1Database, step: RunStep): Promise<number> {
  const results = await withD1Retry(() =>
    db.batch<{ changed: number }>(
      [END_STEP, NOTE_PROGRESS, READ_CHANGED].map((one) => bindStatement(db, one, { ...step })),
    ),
  )
  return results[2]?.results[0]?.changed ?? 0
}
