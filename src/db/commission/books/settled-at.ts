import { JSON_EACH } from '../../records/sql-fragments.ts'
import { withD1Retry } from '../../retry.ts'
import { bindStatement, compileStatement } from '../../statement.ts'
import type { Connection } from '../facts.ts'
import { CLOSING_LIMITS, READ_CLOSED_PERIODS } from './closings.ts'

/** When the computation of an approved statement began to read, and what waited in it. */
export interface SettledStatement {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  /** In milliseconds. */
  readonly read_at: number
  /** The currencies of its holds, as JSON. */
  readonly currencies: string
}

/** Reads when the approved statements of some affiliates were computed. */
export const READ_SETTLED = compileStatement(`
  select s.affiliate_id, s.plan, s.period, s.read_at, (
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
  for (let i = 0; i < affiliates.length; i += CLOSING_LIMITS.affiliates) {
    const some = JSON.stringify(affiliates.slice(i, i + CLOSING_LIMITS.affiliates))
    const { results } = await withD1Retry(() =>
      bindStatement(db, READ_SETTLED, { account, affiliates: some }).all<SettledStatement>(),
    )
    found.push(...results)
  }
  return found
}

/** Reads when the finished runs of an account began. */
export const READ_RUNS_DONE = compileStatement(`
  select period, started_at from statement_runs
  where account = :account and status = 'done' order by started_at`)

/** A period of a plan that was approved as a whole. */
export interface SettledPeriod {
  readonly plan: string
  readonly period: string
  /** When the last run before its approval began to read, in milliseconds. */
  readonly read_at: number
  /** Those of the affiliates in question for whom the approval did not close it. */
  readonly open: readonly string[]
}

/** Returns when the closed periods of an account were last computed before they were closed. */
export async function readSettledPeriods(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<SettledPeriod[]> {
  type Row = { plan: string; period: string; closed_at: number; open: string }
  const values = { account, affiliates: JSON.stringify(affiliates) }
  const { results } = await withD1Retry(() =>
    bindStatement(db, READ_CLOSED_PERIODS, values).all<Row>(),
  )
  if (results.length === 0) return []
  const runs = await withD1Retry(() =>
    bindStatement(db, READ_RUNS_DONE, { account }).all<{ period: string; started_at: string }>(),
  )
  return results.map(({ plan, period, closed_at, open }) => {
    const covers = (one: string) => one.length === period.length && one >= period
    const started = runs.results
      .filter((run) => covers(run.period) && Date.parse(run.started_at) <= closed_at)
      .at(-1)?.started_at
    const read_at = started === undefined ? closed_at : Date.parse(started)
    return { plan, period, read_at, open: JSON.parse(open) as string[] }
  })
}
