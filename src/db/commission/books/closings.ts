import { JSON_EACH } from '../../records/sql-fragments.ts'
import { withD1Retry } from '../../retry.ts'
import { bindStatement, compileStatement } from '../../statement.ts'
import type { Connection } from '../facts.ts'

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
  /** What the next period starts from, as JSON. */
  readonly state: string
}

/** A period of a plan that was approved as a whole. */
export interface ClosedPeriod {
  readonly plan: string
  readonly period: string
  /** In milliseconds. */
  readonly closed_at: number
  /** Those of the affiliates in question for whom the approval did not close it. */
  readonly open: readonly string[]
}

/** What is closed for some affiliates: rows in order of affiliate, plan and period. */
export interface Closings {
  readonly statements: readonly ClosedStatement[]
  /** In order of plan and period. */
  readonly periods: readonly ClosedPeriod[]
}

/** The affiliates whose approved statements one query reads, and the bytes of an answer. */
export const CLOSING_LIMITS = { affiliates: 50, bytes: 4_000_000 }

/**
 * Reads approved statements after a row, in order of affiliate, plan and period: at least one, and no
 * more than the bytes of an answer.
 */
export const READ_CLOSED_STATEMENTS = compileStatement(`
  with w as (
    select s.affiliate_id, s.plan, s.period, sum(ifnull(octet_length(s.statement), 0)
      + octet_length(s.state) + 500) over (order by s.affiliate_id, s.plan, s.period) as bytes,
      row_number() over (order by s.affiliate_id, s.plan, s.period) as number
    from ${JSON_EACH}(:affiliates) a
    cross join statements s indexed by statements_affiliate
      on s.account = :account and s.affiliate_id = a.value and s.status <> 'draft'
    where (s.affiliate_id, s.plan, s.period) > (:affiliate_id, :plan, :period)
  )
  select s.affiliate_id, s.plan, s.period, s.id, s.status, s.hash, s.digest, s.previous, s.closing,
    ifnull(s.statement ->> 'dropped', '0') as dropped, s.approved_at, s.statement, s.state
  from w cross join statements s on s.account = :account and s.period = w.period
    and s.affiliate_id = w.affiliate_id and s.plan = w.plan
  where w.bytes <= ${CLOSING_LIMITS.bytes} or w.number = 1
  order by s.affiliate_id, s.plan, s.period`)

/** Reads the closed periods of all plans, with some affiliates for whom they are open. */
export const READ_CLOSED_PERIODS = compileStatement(`
  select p.plan, p.period, p.closed_at, (
    select json_group_array(o.affiliate_id) from ${JSON_EACH}(:affiliates) a
    cross join open_affiliates o on o.account = :account and o.plan = p.plan
      and o.period = p.period and o.affiliate_id = a.value) as open
  from closed_periods p where p.account = :account order by p.plan, p.period`)

/** Returns what is closed for some affiliates. */
export async function readClosings(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<Closings> {
  const values = { account, affiliates: JSON.stringify(affiliates) }
  const { results } = await withD1Retry(() =>
    bindStatement(db, READ_CLOSED_PERIODS, values).all<
      Omit<ClosedPeriod, 'open'> & { open: string }
    >(),
  )
  const periods = results.map((row) => ({ ...row, open: JSON.parse(row.open) as string[] }))
  const statements: ClosedStatement[] = []
  for (let i = 0; i < affiliates.length; i += CLOSING_LIMITS.affiliates) {
    const some = affiliates.slice(i, i + CLOSING_LIMITS.affiliates)
    statements.push(...(await readClosedStatements(db, account, some)))
  }
  return { statements, periods }
}

async function readClosedStatements(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<ClosedStatement[]> {
  const found: ClosedStatement[] = []
  const list = JSON.stringify(affiliates)
  for (let last = { affiliate_id: '', plan: '', period: '' }; ; ) {
    const { affiliate_id, plan, period } = last
    const values = { account, affiliates: list, affiliate_id, plan, period }
    const { results } = await withD1Retry(() =>
      bindStatement(db, READ_CLOSED_STATEMENTS, values).all<ClosedStatement>(),
    )
    found.push(...results)
    const end = results.at(-1)
    if (!end) return found
    last = end
  }
}
