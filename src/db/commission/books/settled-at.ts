import type { Connection } from '../../database.ts'
import { all } from '../../query.ts'
import { JSON_EACH } from '../../records/sql-fragments.ts'
import { compileStatement } from '../../statement.ts'
import { affiliateLists } from './approved-rows.ts'
import { type ClosedPeriod, readClosedPeriods } from './closings.ts'

/** When the computation of an approved statement began to read, and the currencies of its holds. */
export interface SettledStatement {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  /** When its computation began to read, in milliseconds. */
  readonly read_at: number
  /** When it was approved, in milliseconds. */
  readonly closed_at: number
  /** The currencies of its holds, as JSON. */
  readonly currencies: string
}

/** Reads when the approved statements of some affiliates were computed. */
export const READ_SETTLED = compileStatement(`
  select s.affiliate_id, s.plan, s.period, s.read_at, s.approved_at as closed_at, (
    select json_group_array(distinct value ->> 'currency') from json_each(s.statement, '$.holds')
  ) as currencies
  from ${JSON_EACH}(:affiliates) a
  cross join statements s indexed by statements_affiliate
    on s.account = :account and s.affiliate_id = a.value and s.status <> 'draft'`)

/** Returns when the approved statements of some affiliates were computed. */
export async function readSettled(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<SettledStatement[]> {
  const found: SettledStatement[] = []
  for (const list of affiliateLists(affiliates)) {
    const results = await all<SettledStatement>(db, READ_SETTLED, { account, affiliates: list })
    found.push(...results)
  }
  return found
}

/** Reads when the finished runs of an account began. */
export const READ_RUNS_DONE = compileStatement(`
  select period, started_at from statement_runs
  where account = :account and status = 'done' order by started_at`)

/** A period of a plan that was approved as a whole. */
export interface SettledPeriod
  extends Pick<ClosedPeriod, 'plan' | 'period' | 'closed_at' | 'open'> {
  /** When the last run before its approval began to read, in milliseconds. */
  readonly read_at: number
}

/** Returns the closed periods of an account, with the last run before each was closed. */
export async function readSettledPeriods(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<SettledPeriod[]> {
  const closed = await readClosedPeriods(db, account, affiliates)
  if (closed.length === 0) return []
  const runs = await all<{ period: string; started_at: string }>(db, READ_RUNS_DONE, { account })
  return closed.map(({ plan, period, closed_at, open }) => {
    const covers = (one: string) => one.length === period.length && one >= period
    const started = runs
      .filter((run) => covers(run.period) && Date.parse(run.started_at) <= closed_at)
      .at(-1)?.started_at
    const read_at = started === undefined ? closed_at : Date.parse(started)
    return { plan, period, closed_at, read_at, open }
  })
}
