import { HOUR_MS } from '../../durations.ts'
import type { KeyValue } from '../paginate.ts'
import { all } from '../query.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement, required, type Statement } from '../statement.ts'
import {
  MEASURED_ROWS,
  MEASURED_TABLES,
  measureSql,
  ROLL_UP,
  SELECT_COUNTED,
  SELECT_USAGES,
} from './storage-sql.ts'

/** What an account stores, in bytes. */
export interface Usage {
  account: string
  bytes: number
  /** When the rows were last measured, in milliseconds, and the result; null if they never were. */
  measured_at: number | null
  measured_bytes: number | null
  /** The state of a measurement that is not complete, as JSON; null if there is none. */
  measuring: string | null
}

/** The state of a measurement between two statements. */
interface Measurement {
  /** The hour in which it began, and what was counted in that hour until then. */
  since_hour: number
  counted: number
  /** The table that is being measured; null if all are. */
  table: string | null
  /** The key of the last row that was measured; null at the beginning of a table. */
  after: KeyValue[] | null
  bytes: number
}

interface MeasuredStep {
  found: number
  bytes: number
  last: string | null
}

const rollUpStatement = compileStatement(ROLL_UP)
const selectUsages = compileStatement(SELECT_USAGES)

/** Reads what each of these accounts stores. */
export async function readUsages(db: D1Database, accounts: readonly string[]): Promise<Usage[]> {
  return all<Usage>(db, selectUsages, { accounts: JSON.stringify(accounts) })
}

/** Adds what these accounts wrote in past hours to what they store, and returns what each stores. */
export async function rollUpUsages(
  db: D1Database,
  accounts: readonly string[],
  now: number,
): Promise<Usage[]> {
  const values = { accounts: JSON.stringify(accounts), hour: Math.floor(now / HOUR_MS) }
  const results = await withD1Retry(() =>
    db.batch<Usage>([
      bindStatement(db, rollUpStatement, values),
      bindStatement(db, selectUsages, values),
    ]),
  )
  return required(results[1], 'result').results
}

// An account has no row before its first full hour.
const SAVE = compileStatement(`
  insert into storage (account, bytes, until_hour, measuring) values (:account, 0, 0, :measuring)
  on conflict (account) do update set measuring = excluded.measuring`)

// `until_hour` goes back: what was written since the measurement began is counted in addition.
const FINISH = compileStatement(`
  insert into storage (account, bytes, until_hour, measured_at, measured_bytes)
  values (:account, :bytes - :counted, :since_hour, :now, :bytes)
  on conflict (account) do update set bytes = excluded.bytes, until_hour = excluded.until_hour,
    measured_at = excluded.measured_at, measured_bytes = excluded.measured_bytes, measuring = null`)

const selectCounted = compileStatement(SELECT_COUNTED)

/**
 * Measures what an account stores, in at most `maxSteps` statements of 10,000 rows; the next call goes
 * on where this one ends. Returns the number of statements.
 */
export async function measureUsage(
  db: D1Database,
  { account, measuring }: Pick<Usage, 'account' | 'measuring'>,
  now: number,
  maxSteps: number,
): Promise<number> {
  const run = (statement: Statement, values: Record<string, unknown>) =>
    withD1Retry(() => bindStatement(db, statement, { account, now, ...values }).run<MeasuredStep>())
  const begin = async (): Promise<Measurement> => {
    const hour = Math.floor(now / HOUR_MS)
    const { results } = await run(selectCounted, { hour })
    const counted = required(results[0], 'sum').bytes
    const table = required(MEASURED_TABLES[0], 'table')
    return { since_hour: hour, counted, table, after: null, bytes: 0 }
  }
  let state: Measurement = measuring === null ? await begin() : JSON.parse(measuring)
  let steps = 0
  while (state.table !== null && steps < maxSteps) {
    const { table, after } = state
    const afterValues = Object.fromEntries((after ?? []).map((key, i) => [`after_${i}`, key]))
    const statement = compileStatement(measureSql(table, after === null))
    const { results } = await run(statement, afterValues)
    steps += 1
    const step = required(results[0], 'sum')
    state = { ...state, ...nextPlace(table, step), bytes: state.bytes + step.bytes }
  }
  if (state.table === null) await run(FINISH, { ...state })
  else await run(SAVE, { measuring: JSON.stringify(state) })
  return steps
}

/** Returns where a measurement goes on after a step. */
function nextPlace(table: string, step: MeasuredStep): Pick<Measurement, 'table' | 'after'> {
  if (step.last && step.found === MEASURED_ROWS) return { table, after: JSON.parse(step.last) }
  return { table: MEASURED_TABLES[MEASURED_TABLES.indexOf(table) + 1] ?? null, after: null }
}
