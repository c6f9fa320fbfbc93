import type { Connection } from '../../platform/db/database.ts'
import { all } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { approvedRows, readApprovedRows } from './approved-rows.ts'

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

/** The items of one part of an approved statement. */
export interface BookedPart {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly items: readonly BookedItem[]
}

/** Returns the SQL of a JSON array of `BookedItem`s from a JSON array of lines. */
const itemsOf = (lines: string): string => `(
    select json_group_array(json_array(value ->> 'rule', value ->> 'version', value ->> 'scope',
      value ->> 'amount', value ->> '$.of.period', value ->> 'occurrence',
      value ->> '$.of.dropped_in'))
    from json_each(${lines}))`

/** Reads the first part of each approved statement after a row. */
export const READ_BOOKED = approvedRows({
  columns: `s.id, s.parts, ${itemsOf('s.lines')} as items`,
  rowBytes: 'octet_length(s.lines) + 200',
  bytes: 3_000_000,
})

/** Reads a further part of a statement. */
export const READ_BOOKED_PART = compileStatement(`
  select ${itemsOf('l.lines')} as items from statement_lines l
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
  for await (const row of readApprovedRows<Row>(db, READ_BOOKED, account, affiliates)) {
    yield* partsOf(db, account, row)
  }
}

async function* partsOf(db: Connection, account: string, row: Row): AsyncGenerator<BookedPart> {
  const { affiliate_id, plan, period, id, parts } = row
  yield { affiliate_id, plan, period, items: JSON.parse(row.items) }
  for (let part = 2; part <= parts; part++) {
    const values = { account, id, part }
    for (const { items } of await all<Pick<Row, 'items'>>(db, READ_BOOKED_PART, values)) {
      yield { affiliate_id, plan, period, items: JSON.parse(items) }
    }
  }
}
