import type { Connection } from '../../platform/db/database.ts'
import { all, only } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { affiliateLists, approvedRows, readApprovedRows } from './approved-rows.ts'

/** A row of `statements` that was approved; also one that only carries something. */
export interface ClosedStatement {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly id: string
  readonly status: 'approved' | 'paid'
  readonly hash: string
  readonly digest: string
  readonly previous: string
  readonly closing: string
  /** Money that the period dropped, at most 0; `0` without a statement. */
  readonly dropped: string
  /** In milliseconds. */
  readonly approved_at: number
  /** The statement as JSON without its lines; null if the row only carries something. */
  readonly statement: string | null
}

/** A period of a plan that was approved as a whole. */
export interface ClosedPeriod {
  readonly plan: string
  readonly period: string
  /** In milliseconds. */
  readonly closed_at: number
  /** Those of the requested affiliates for whom the period stays open. */
  readonly open: readonly string[]
}

/**
 * The approved statements of some affiliates, in order of affiliate, plan and period, and closed
 * periods.
 */
export interface Closings {
  readonly statements: readonly ClosedStatement[]
  /** In order of plan and period. */
  readonly periods: readonly ClosedPeriod[]
}

/** The approximate bytes of a response with approved statements. */
export const CLOSING_BYTES = 4_000_000

/** Reads approved statements after a row. */
export const READ_CLOSED_STATEMENTS = approvedRows({
  columns: `s.id, s.status, s.hash, s.digest, s.previous, s.closing,
    ifnull(s.statement ->> 'dropped', '0') as dropped, s.approved_at, s.statement`,
  rowBytes: 'ifnull(octet_length(s.statement), 0) + 500',
  bytes: CLOSING_BYTES,
})

/** Reads the closed periods of all plans, with some affiliates for whom they are open. */
export const READ_CLOSED_PERIODS = compileStatement(`
  select p.plan, p.period, p.closed_at, (
    select json_group_array(o.affiliate_id) from ${JSON_EACH}(:affiliates) a
    cross join open_affiliates o on o.account = :account and o.plan = p.plan
      and o.period = p.period and o.affiliate_id = a.value) as open
  from closed_periods p where p.account = :account order by p.plan, p.period`)

/** Returns the closed periods of all plans, with some affiliates for whom they are open. */
export async function readClosedPeriods(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<ClosedPeriod[]> {
  type Row = Omit<ClosedPeriod, 'open'> & { open: string }
  const values = { account, affiliates: JSON.stringify(affiliates) }
  const results = await all<Row>(db, READ_CLOSED_PERIODS, values)
  return results.map((row) => ({ ...row, open: JSON.parse(row.open) as string[] }))
}

const HAS_CLOSED_PERIODS = compileStatement(`
  select exists (select 1 from closed_periods where account = :account)
    or exists (select 1 from statements where account = :account and status <> 'draft') as closed`)

/** Returns whether any period of an account is closed, for any affiliate. */
export async function hasClosedPeriods(db: D1Database, account: string): Promise<boolean> {
  const { closed } = await only<{ closed: number }>(db, HAS_CLOSED_PERIODS, { account })
  return closed === 1
}

/** Returns the approved statements of some affiliates, and the closed periods of all plans. */
export async function readClosings(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<Closings> {
  const [periods, statements] = await Promise.all([
    readClosedPeriods(db, account, affiliates),
    readClosedStatements(db, account, affiliates),
  ])
  return { statements, periods }
}

async function readClosedStatements(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<ClosedStatement[]> {
  const statements: ClosedStatement[] = []
  const rows = readApprovedRows<ClosedStatement>(db, READ_CLOSED_STATEMENTS, account, affiliates)
  for await (const row of rows) statements.push(row)
  return statements
}

/** When the computation of an approved statement began to read, and its holds. */
export interface SettledStatement {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  /** When its computation began to read, in milliseconds. */
  readonly read_at: number
  readonly holds: readonly { readonly rule: string; readonly currency: string | null }[]
}

/** Reads when the approved statements of some affiliates were computed. */
const READ_SETTLED = compileStatement(`
  select s.affiliate_id, s.plan, s.period, s.read_at, ifnull(s.statement -> 'holds', '[]') as holds
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
    type Row = Omit<SettledStatement, 'holds'> & { holds: string }
    const results = await all<Row>(db, READ_SETTLED, { account, affiliates: list })
    for (const row of results) found.push({ ...row, holds: JSON.parse(row.holds) })
  }
  return found
}

/** Reads when the finished runs of an account began. */
const READ_RUNS_DONE = compileStatement(`
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
