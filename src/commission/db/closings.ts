import type { Connection } from '../../platform/db/database.ts'
import { all, only } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { compileStatement } from '../../platform/db/statement.ts'

/**
 * A line or an adjustment of an approved statement. `period` (the corrected one) and `occurrence` are
 * null for a line. Rule, version and scope are null in an adjustment that restores what a statement
 * dropped; `droppedIn` is the period of that statement.
 */
export type BookedItem = readonly [
  rule: string | null,
  version: number | null,
  scope: string | null,
  amount: string,
  period: string | null,
  occurrence: number | null,
  droppedIn: string | null,
]

/** A row of `statements` that was approved; also one that only carries something. */
export interface ClosedStatement {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly closing: string
  /** Money that the period dropped, at most 0; `0` without a statement. */
  readonly dropped: string
  /** In milliseconds. */
  readonly approved_at: number
  /** The statement as JSON without its lines; null if the row only carries something. */
  readonly statement: string | null
}

/** One part of the lines and adjustments of an approved statement; the first is 1. */
export interface ClosedPart extends ClosedStatement {
  readonly part: number
  readonly items: readonly BookedItem[]
}

/** The affiliates whose approved statements one query reads. */
const AFFILIATES_PER_QUERY = 50

/** The approximate bytes of a response with approved statements. */
const CLOSING_BYTES = 4_000_000

/** Yields affiliates as JSON arrays, each with as many as one query reads. */
function* affiliateLists(affiliates: readonly string[]): Generator<string> {
  for (let i = 0; i < affiliates.length; i += AFFILIATES_PER_QUERY) {
    yield JSON.stringify(affiliates.slice(i, i + AFFILIATES_PER_QUERY))
  }
}

/** Returns the SQL of a JSON array of `BookedItem`s from a JSON array of lines. */
const itemsOf = (lines: string): string => `(
    select json_group_array(json_array(value ->> 'rule', value ->> 'version', value ->> 'scope',
      value ->> 'amount', value ->> '$.of.period', value ->> 'occurrence',
      value ->> '$.of.dropped_in'))
    from json_each(${lines}))`

/**
 * Reads the approved statements after a row, each with its first part, in order of affiliate, plan and period: as many
 * as `CLOSING_BYTES` allows, and at least one.
 */
const READ_CLOSED_STATEMENTS = compileStatement(`
  with w as (
    select s.affiliate_id, s.plan, s.period, row_number() over (s) as number,
      sum(ifnull(octet_length(s.statement), 0) + octet_length(s.lines) + 500) over (s) as bytes
    from ${JSON_EACH}(:affiliates) a
    cross join statements s indexed by statements_affiliate
      on s.account = :account and s.affiliate_id = a.value and s.status <> 'draft'
    where (s.affiliate_id, s.plan, s.period) > (:affiliate_id, :plan, :period)
    window s as (order by s.affiliate_id, s.plan, s.period)
  )
  select s.affiliate_id, s.plan, s.period, s.closing, ifnull(s.statement ->> 'dropped', '0') as dropped,
    s.approved_at, s.statement, s.id, s.parts, ${itemsOf('s.lines')} as items
  from w cross join statements s on s.account = :account and s.period = w.period
    and s.affiliate_id = w.affiliate_id and s.plan = w.plan
  where w.bytes <= ${CLOSING_BYTES} or w.number = 1
  order by s.affiliate_id, s.plan, s.period`)

const READ_FURTHER_PART = compileStatement(`
  select ${itemsOf('l.lines')} as items from statement_lines l
  where l.account = :account and l.id = :id and l.part = :part`)

/** Yields the approved statements of some affiliates, part by part. */
export async function* readClosedStatements(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): AsyncGenerator<ClosedPart> {
  type Row = ClosedStatement & { id: string; parts: number; items: string }
  for (const list of affiliateLists(affiliates)) {
    let after = { affiliate_id: '', plan: '', period: '' }
    for (;;) {
      const values = { account, affiliates: list, ...after }
      const rows = await all<Row>(db, READ_CLOSED_STATEMENTS, values)
      for (const { id, parts, items, ...row } of rows) {
        yield { ...row, part: 1, items: JSON.parse(items) }
        for (let part = 2; part <= parts; part++) {
          const found = await all<{ items: string }>(db, READ_FURTHER_PART, { account, id, part })
          for (const one of found) yield { ...row, part, items: JSON.parse(one.items) }
        }
      }
      const last = rows.at(-1)
      if (!last) break
      after = { affiliate_id: last.affiliate_id, plan: last.plan, period: last.period }
    }
  }
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

/** Reads the closed periods of all plans, with some affiliates for whom they are open. */
const READ_CLOSED_PERIODS = compileStatement(`
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
