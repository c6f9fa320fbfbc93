import { isUnchanged } from '../../ingest/db/changed.ts'
import type { RecordView } from '../../ingest/db/list.ts'
import type { RecordTable } from '../../ingest/db/record-table.ts'
import { recordsByDay, stepKey } from '../../ingest/db/totals.ts'
import { day, instant, real, type StoredColumn, text } from '../../platform/db/column-types.ts'
import type { Connection } from '../../platform/db/database.ts'
import { cursorValues, isBeyondCursor, type KeyValue } from '../../platform/db/paginate.ts'
import { all, only } from '../../platform/db/query.ts'
import { columnList } from '../../platform/db/sql-fragments.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { activity, customers, events, transactions } from '../../platform/db/tables.ts'
import { DAY_MS } from '../../platform/durations.ts'

/** What a column holds, as an export writes it. */
export type StoredType = 'text' | 'decimal' | 'date' | 'instant' | 'integer'

const TABLES = { customers, transactions, activity, events }

const STORED_TYPES = new Map<StoredColumn | undefined, StoredType>([
  [text, 'text'],
  [real, 'decimal'],
  [day, 'date'],
  [instant, 'instant'],
])

/** Returns what a column of a table of records holds. */
export function storedTypeOf({ table }: RecordTable, column: string): StoredType {
  const { columns } = TABLES[table as keyof typeof TABLES]
  const found = Object.entries<StoredColumn>(columns).find(([name]) => name === column)
  return STORED_TYPES.get(found?.[1]) ?? 'integer'
}

/** A month in which a resource has records. */
export interface RecordMonth {
  readonly month: string
  /** The days with records, and those that have changed since. */
  readonly days: number
  readonly changed: number
}

/** Reads the months with records. It reads a few rows for each day and none of its records. */
const readMonths = ({ recordTable }: RecordView) => {
  const { dayColumn } = recordTable
  const firstDay = (condition: string) =>
    `select min(${dayColumn}) from ${recordsByDay(recordTable)} where account = :account ${condition}`
  return compileStatement(`
    with recursive days(stored_day) as (
      ${firstDay('')}
      union all
      select (${firstDay(`and ${dayColumn} > stored_day`)}) from days where stored_day is not null
    )
    select strftime('%Y-%m', stored_day * 86400, 'unixepoch') as month, count(*) as days,
      sum(not ${isUnchanged(':resource', 'stored_day', ':position')}) as changed
    from days where stored_day is not null
    group by 1 order by 1`)
}

/** Returns the months in which a resource has records, with the days that were marked as changed behind a position. */
export const listRecordMonths = (
  db: Connection,
  view: RecordView,
  account: string,
  position: number,
): Promise<RecordMonth[]> => all(db, readMonths(view), { account, resource: view.name, position })

const SUM_REVISIONS = compileStatement(`
  select strftime('%Y-%m', day * 86400, 'unixepoch') as month, sum(revision) as revisions
  from customers not indexed where account = :account group by 1`)

/**
 * Returns the sums of the revisions of all customers, by month. A change of a customer marks no day unless they move, but
 * raises this sum.
 */
export async function sumRevisions(
  db: Connection,
  account: string,
): Promise<ReadonlyMap<string, number>> {
  const found = await all<{ month: string; revisions: number }>(db, SUM_REVISIONS, { account })
  return new Map(found.map(({ month, revisions }) => [month, revisions]))
}

const ERASED_SINCE = compileStatement(`
  select count(*) as erased, min(iif(next_day is null, null, erased_at)) as unfinished_at
  from erasures where account = :account and (erased_at >= :since or next_day is not null)`)

/**
 * Returns how many customers were erased since a time (RFC 3339) or are not erased everywhere yet, and when the
 * first of the latter was begun.
 */
export const countErased = (
  db: Connection,
  account: string,
  since: string,
): Promise<{ erased: number; unfinished_at: string | null }> =>
  only(db, ERASED_SINCE, { account, since })

/** A page of rows of an export, and where the next one begins; null after the last. */
export interface ExportPage<Place> {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly next: Place | null
}

/** Returns the first day of a month (`2026-10`), and the one behind its last, as days since 1970. */
export function boundsOf(month: string): { first: number; end: number } {
  const begin = new Date(`${month}-01T00:00:00Z`)
  const end = new Date(begin)
  end.setUTCMonth(end.getUTCMonth() + 1)
  return { first: begin.getTime() / DAY_MS, end: end.getTime() / DAY_MS }
}

/** Which records of a month a page has. */
interface RecordPage {
  readonly account: string
  readonly month: string
  readonly columns: readonly string[]
  /** The key of the record before the page; null at the begin of the month. */
  readonly after: readonly KeyValue[] | null
  readonly limit: number
}

/** Reads the next records of a month that are not held, in the order of day, customer and key. */
export async function readRecordPage(
  db: Connection,
  { recordTable }: RecordView,
  { account, month, columns, after, limit }: RecordPage,
): Promise<ExportPage<KeyValue[]>> {
  const { dayColumn, canHold } = recordTable
  const key = stepKey(recordTable)
  const { first, end } = boundsOf(month)
  const read = [...new Set([...columns, ...key])]
  const begin = key.map((_, i) => (i === 0 ? first : ''))
  const rows = await all<Record<string, unknown>>(
    db,
    compileStatement(`
      select ${columnList(read)} from ${recordsByDay(recordTable)}
      where account = :account and ${dayColumn} < :end and ${isBeyondCursor(key)}
        ${canHold ? 'and held = 0' : ''}
      order by ${columnList(key)} limit :limit`),
    { account, end, limit, ...cursorValues({ number: 1, size: limit, after: after ?? begin }) },
  )
  const last = rows.at(-1)
  const isFull = rows.length === limit && last !== undefined
  return { rows, next: isFull ? key.map((name) => last[name] as KeyValue) : null }
}
