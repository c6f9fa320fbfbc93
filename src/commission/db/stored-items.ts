import type { Connection } from '../../platform/db/database.ts'
import { all, first } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { compileStatement } from '../../platform/db/statement.ts'

/** A line or an adjustment of a stored statement. */
export interface StoredItem {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly status: 'draft' | 'approved' | 'paid'
  readonly currency: string
  readonly computed_at: string
  /** The line or adjustment as JSON; null if the statement has none with the id. */
  readonly item: string | null
  /** How it came about, as JSON; null if the corrected line is none now. */
  readonly steps: string | null
}

/** Reads a statement with one of its lines or adjustments, and its steps. */
export const FIND_ITEM = compileStatement(`
  select s.affiliate_id, s.plan, s.period, s.status, s.computed_at,
    s.statement ->> 'currency' as currency, coalesce((
      select value from json_each(s.lines) where value ->> 'id' = :item
    ), (
      select j.value from statement_lines l cross join json_each(l.lines) j
      where l.account = :account and l.id = :statement and j.value ->> 'id' = :item
    )) as item, coalesce(s.steps -> :item, (
      select l.steps -> :item from statement_lines l
      where l.account = :account and l.id = :statement and l.steps -> :item is not null
    )) as steps
  from statements s
  where s.account = :account and s.id = :statement and s.statement is not null`)

/** Returns a stored statement with one of its lines or adjustments; null if there is no statement. */
export const findItem = (
  db: Connection,
  account: string,
  statement: string,
  item: string,
): Promise<StoredItem | null> => first(db, FIND_ITEM, { account, statement, item })

/** Reads what a statement dropped. */
export const FIND_DROPPED = compileStatement(`
  select statement ->> 'dropped' as dropped from statements
  where account = :account and id = :statement and statement is not null`)

/** Returns what a stored statement dropped, at most 0; null if there is no statement. */
export const findDropped = async (
  db: Connection,
  account: string,
  statement: string,
): Promise<string | null> =>
  (await first<{ dropped: string }>(db, FIND_DROPPED, { account, statement }))?.dropped ?? null

/** A correction of a line. */
export interface LineCorrection {
  readonly id: string
  readonly statement: string
  readonly period: string
  readonly status: 'draft' | 'approved' | 'paid'
  readonly amount: string
}

/**
 * Returns `items`, the lines and corrections of the statements of `own o`, each with columns of its statement, as SQL.
 * The first part is in the statement's row.
 */
const itemsOf = (columns: string) => `items as (
    select ${columns}, j.value from own o cross join json_each(o.lines) j
    union all
    select ${columns}, j.value from own o
    cross join statement_lines l on l.account = :account and l.id = o.id and o.parts > 1
    cross join json_each(l.lines) j
  )`

/** Reads the corrections of a line, or what restored the amount that a period dropped, in order of their periods. */
export const READ_CORRECTIONS = compileStatement(`
  with own as (
    select s.period, s.id, s.status, s.lines, s.parts
    from statements s indexed by statements_affiliate
    where s.account = :account and s.affiliate_id = :affiliate_id and s.plan = :plan
      and s.period > :period and s.statement is not null
  ), ${itemsOf('o.period, o.id, o.status')}
  select value ->> 'id' as id, i.id as statement, i.period, i.status, value ->> 'amount' as amount
  from items i
  where value ->> '$.of.line' is :line
    and value ->> iif(:line is null, '$.of.dropped_in', '$.of.period') = :period
  order by i.period`)

/** The place of a line of a closed period; `line` is null for what the statement of the period dropped. */
export interface CorrectedPlace {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly line: string | null
}

/** Returns the corrections of a line, or what restored the amount that a period dropped, in order of their periods. */
export async function readCorrections(
  db: Connection,
  account: string,
  { affiliate_id, plan, period, line }: CorrectedPlace,
): Promise<LineCorrection[]> {
  const values = { account, affiliate_id, plan, period, line }
  return all<LineCorrection>(db, READ_CORRECTIONS, values)
}

/** The amount of a line of a stored statement. */
export interface LineAmount {
  readonly id: string
  readonly amount: string
  readonly currency: string
  readonly status: 'draft' | 'approved' | 'paid'
}

/** Reads the amounts of lines of some statements. */
export const READ_LINE_AMOUNTS = compileStatement(`
  with own as (
    select s.id, s.status, s.statement ->> 'currency' as currency, s.lines, s.parts
    from ${JSON_EACH}(:statements) w
    cross join statements s indexed by statements_id on s.account = :account and s.id = w.value
    where s.statement is not null
  ), ${itemsOf('o.status, o.currency')}
  select value ->> 'id' as id, value ->> 'amount' as amount, currency, status from items
  where value ->> 'id' in (select value from ${JSON_EACH}(:lines))`)

/** Returns the amounts of those of some lines that stored statements have. */
export async function readLineAmounts(
  db: Connection,
  account: string,
  places: readonly { readonly statement: string; readonly line: string }[],
): Promise<LineAmount[]> {
  if (places.length === 0) return []
  const statements = JSON.stringify([...new Set(places.map(({ statement }) => statement))])
  const lines = JSON.stringify(places.map(({ line }) => line))
  return all<LineAmount>(db, READ_LINE_AMOUNTS, { account, statements, lines })
}
