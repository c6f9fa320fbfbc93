import { JSON_EACH } from '../../records/sql-fragments.ts'
import { withD1Retry } from '../../retry.ts'
import { bindStatement, compileStatement } from '../../statement.ts'
import type { Connection } from '../facts.ts'

/**
 * A line or an adjustment of an approved statement: rule, version, scope, amount, and of an adjustment
 * the period that it corrects and its `occurrence`. Rule, version and scope are null in an entry that
 * restores what a statement dropped; it has the period of that statement.
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

/** The items of one part of an approved statement. */
export interface BookedPart {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly items: readonly BookedItem[]
}

/** The affiliates and about the bytes of statements of one query. */
export const BOOKED_LIMITS = { affiliates: 50, bytes: 3_000_000 }

const packed = (lines: string): string => `(
    select json_group_array(json_array(value ->> 'rule', value ->> 'version', value ->> 'scope',
      value ->> 'amount', value ->> '$.of.period', value ->> 'occurrence',
      value ->> '$.of.dropped_in'))
    from json_each(${lines}))`

/** Reads the first parts of approved statements after a row, in order of affiliate, plan and period. */
export const READ_BOOKED = compileStatement(`
  with w as (
    select s.affiliate_id, s.plan, s.period, sum(octet_length(s.lines) + 200)
        over (order by s.affiliate_id, s.plan, s.period) as bytes,
      row_number() over (order by s.affiliate_id, s.plan, s.period) as number
    from ${JSON_EACH}(:affiliates) a
    cross join statements s indexed by statements_affiliate
      on s.account = :account and s.affiliate_id = a.value and s.status <> 'draft'
    where (s.affiliate_id, s.plan, s.period) > (:affiliate_id, :plan, :period)
  )
  select s.affiliate_id, s.plan, s.period, s.id, s.parts, ${packed('s.lines')} as items
  from w cross join statements s on s.account = :account and s.period = w.period
    and s.affiliate_id = w.affiliate_id and s.plan = w.plan
  where w.bytes <= ${BOOKED_LIMITS.bytes} or w.number = 1
  order by s.affiliate_id, s.plan, s.period`)

/** Reads a further part of a statement. */
export const READ_BOOKED_PART = compileStatement(`
  select ${packed('l.lines')} as items from statement_lines l
  where l.account = :account and l.id = :id and l.part = :part`)

interface Row {
  affiliate_id: string
  plan: string
  period: string
  id: string
  parts: number
  items: string
}

/** Yields the lines and adjustments of all approved statements of some affiliates, part by part. */
export async function* readBooked(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): AsyncGenerator<BookedPart> {
  for (let i = 0; i < affiliates.length; i += BOOKED_LIMITS.affiliates) {
    const some = JSON.stringify(affiliates.slice(i, i + BOOKED_LIMITS.affiliates))
    for (let last = { affiliate_id: '', plan: '', period: '' }; ; ) {
      const { affiliate_id, plan, period } = last
      const values = { account, affiliates: some, affiliate_id, plan, period }
      const { results } = await withD1Retry(() => bindStatement(db, READ_BOOKED, values).all<Row>())
      for (const row of results) yield* partsOf(db, account, row)
      const end = results.at(-1)
      if (!end) break
      last = end
    }
  }
}

async function* partsOf(db: Connection, account: string, row: Row): AsyncGenerator<BookedPart> {
  const { affiliate_id, plan, period, id, parts } = row
  yield { affiliate_id, plan, period, items: JSON.parse(row.items) }
  for (let part = 2; part <= parts; part++) {
    const found = await withD1Retry(() =>
      bindStatement(db, READ_BOOKED_PART, { account, id, part }).first<{ items: string }>(),
    )
    if (found) yield { affiliate_id, plan, period, items: JSON.parse(found.items) }
  }
}
