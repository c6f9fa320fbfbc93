import type { Connection } from '../../database.ts'
import { all, only } from '../../query.ts'
import { JSON_EACH } from '../../records/sql-fragments.ts'
import { compileStatement } from '../../statement.ts'
import { approvedRows, readApprovedRows } from './approved-rows.ts'

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
