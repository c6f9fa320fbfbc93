import { ARCHIVED_RESOURCES } from '../../platform/db/archive-tables.ts'
import { archivedMonthsOfList } from '../../platform/db/archived.ts'
import { decodeRow, encode } from '../../platform/db/column-types.ts'
import {
  cursorValues,
  type FoundPage,
  isBeyondCursor,
  LIST_LIMITS,
  type ListQuery,
  limitCount,
  offsetOf,
  type Page,
  paginate,
} from '../../platform/db/paginate.ts'
import { all } from '../../platform/db/query.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import { bindStatement, compileStatement, required } from '../../platform/db/statement.ts'
import type { RecordTable } from './record-table.ts'

/** Narrows a list to a customer and to days, both inclusive. */
export interface Filter {
  customer_id?: string
  from?: string
  to?: string
}

/** Returns the parameters of a list's statements, as SQL stores them. */
export function listedValues(view: RecordView, account: string, filter: Filter) {
  const { encoded, dayColumn } = view.recordTable
  return {
    account,
    resource: view.name,
    customer_id: filter.customer_id,
    first_day: encode(encoded[dayColumn], filter.from),
    last_day: encode(encoded[dayColumn], filter.to),
  }
}

/** Returns the columns that a list reads: those of a record, and those of the list's order. */
const listColumns = ({ columns }: RecordView, key: readonly string[]): string[] => [
  ...new Set([...columns, ...key]),
]

/** The name of a resource: the noun in its path, and its name in `totals`, `deliveries` and `arrivals`. */
export type ResourceName = 'customers' | 'transactions' | 'trading-activity' | 'activities'

/** A resource as the database reads it: lists, held records and control totals follow from it. */
export interface RecordView {
  readonly name: ResourceName
  readonly recordTable: RecordTable
  /** The columns that a list reads, the key among them. */
  readonly columns: readonly string[]
  /** Returns a record as its sender knows it, from a row of `columns`. */
  readonly present: (row: Record<string, unknown>) => Record<string, unknown>
  /** The columns whose values form a group of the control totals. */
  readonly groups: readonly string[]
  /** The numeric columns that the control totals sum. */
  readonly sums: readonly string[]
  /** A column of JSON that maps KPI names to numbers; each is summed under its name. */
  readonly kpis?: string
  /** The wire names of columns, where they differ. */
  readonly wire?: Readonly<Record<string, string>>
}

/** Returns a stored row as a record in the form of the wire. */
export const presentRow = ({ recordTable, present }: RecordView, row: Record<string, unknown>) =>
  present(decodeRow(recordTable.encoded, row))

/** The log of deliveries keeps at most this many characters of an id. */
const MAX_LOGGED_TEXT = 40

/** Returns a text of at most 40 characters, and `…` if it is longer. */
export function shortenLogged(text: string): string {
  if (text.length <= MAX_LOGGED_TEXT) return text
  // Twice as many units of UTF-16 have at least as many characters.
  const characters = [...text.slice(0, 2 * MAX_LOGGED_TEXT + 1)]
  if (characters.length <= MAX_LOGGED_TEXT) return text
  return `${characters.slice(0, MAX_LOGGED_TEXT).join('')}…`
}

/**
 * Reads one page of an account's records: in the order of their key, or of day and customer if the list is narrowed to
 * days. A page reads as many rows as it shows; the first page also counts the matches.
 *
 * @throws MonthArchived if records of the list are archived.
 */
export async function listRecords(
  session: D1DatabaseSession,
  view: RecordView,
  account: string,
  filter: Filter,
  page: Page,
): Promise<FoundPage> {
  const found =
    filter.customer_id !== undefined && view.recordTable.canHold
      ? await listCustomerRecords(session, view, account, filter, page)
      : await paginate(session, listQuery(view, account, filter), page)
  return { ...found, data: found.data.map((row) => presentRow(view, pickColumns(view, row))) }
}

/** Returns the columns that order a list that is narrowed to days, or to a customer. */
export function orderOfDays({ recordTable }: RecordView, { customer_id }: Filter): string[] {
  const { dayColumn, key } = recordTable
  const rest = key.filter((name) => name !== 'customer_id' && name !== dayColumn)
  return customer_id === undefined ? [dayColumn, 'customer_id', ...rest] : [dayColumn, ...rest]
}

/** Returns a row without the columns that only order the list. */
export const pickColumns = ({ columns }: RecordView, row: Record<string, unknown>) =>
  Object.fromEntries(columns.map((name) => [name, row[name]]))

/** Returns the query for the archived months that have records of a list; nothing for resources that stay. */
const guardOf = ({ name }: RecordView, { from, to, customer_id }: Filter) =>
  ARCHIVED_RESOURCES.some((one) => one === name) && {
    archived: archivedMonthsOfList({
      from: from !== undefined,
      to: to !== undefined,
      customer: customer_id !== undefined,
    }),
  }

/** Returns the query of a list; `listCustomerRecords` reads the records of one customer. */
export function listQuery(view: RecordView, account: string, filter: Filter): ListQuery {
  const values = listedValues(view, account, filter)
  const { table, key, canHold, dayColumn, indexes } = view.recordTable
  const { customer_id, from, to } = filter
  const held = canHold ? ' and held = 0' : ''
  if (from !== undefined || to !== undefined) {
    const dayKey = orderOfDays(view, {})
    const upTo = to === undefined ? '' : ` and ${dayColumn} <= :last_day`
    const records = `${table} not indexed where account = :account${held}${upTo}`
    return {
      columns: listColumns(view, dayKey),
      from: from === undefined ? records : `${records} and ${dayColumn} >= :first_day`,
      // The cursor lies behind the first day. With both conditions the database may begin at that day.
      fromCursor: `${records} and ${isBeyondCursor(dayKey)}`,
      key: dayKey,
      values,
      limitsBytes: true,
      ...guardOf(view, filter),
    }
  }
  const ofCustomer = customer_id === undefined ? '' : ' and customer_id = :customer_id'
  const access = indexes.key ? `indexed by ${indexes.key}` : 'not indexed'
  return {
    columns: view.columns,
    from: `${table} ${access} where account = :account${held}${ofCustomer}`,
    key,
    ...(customer_id === undefined && { total: KEPT_TOTAL }),
    values,
    limitsBytes: true,
    ...guardOf(view, filter),
  }
}

/** The number of records of a resource, which each delivery keeps. */
export const KEPT_TOTAL =
  'select total from totals where account = :account and resource = :resource'

/** Reads one record by its id; null if there is none, or if it is held. */
export async function findRecord(
  session: D1DatabaseSession,
  view: RecordView,
  account: string,
  id: string,
): Promise<Record<string, unknown> | null> {
  const statement = compileStatement(findRecordSql(view))
  const [found] = await all<Record<string, unknown>>(session, statement, { account, id })
  return found ? presentRow(view, pickColumns(view, found)) : null
}

/** Returns the query for one record. */
export const findRecordSql = ({ recordTable, columns }: RecordView) => `
      select ${columns.join()} from ${recordTable.table}
      where account = :account and ${recordTable.key[0]} = :id${
        recordTable.canHold ? ' and held = 0' : ''
      }`

/** Returns a record as it was sent: an optional field that was left out is absent, not null. */
export const withoutNulls = (record: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))

// Records are stored by day and customer: an index by customer would cost each record another write. So
// the list of a customer first searches the account's days for those with records of the customer, and
// stops once it has enough for the page. Then it reads the page along the primary key.

/** The days that the first statement found, and what it had to visit. */
interface FoundDays {
  /** A JSON array of days with records of the customer. */
  days: string
  matches: number
  visited: number
}

/** Reads one page of a customer's records, in the order of day and key. */
async function listCustomerRecords(
  session: D1DatabaseSession,
  view: RecordView,
  account: string,
  filter: Filter,
  page: Page,
): Promise<FoundPage> {
  const values = { ...listedValues(view, account, filter), ...cursorValues(page) }
  const statement = compileStatement(customerDaysSql(view.recordTable, filter, page))
  const upToPage = offsetOf(page) + page.size
  // The first page also counts the matches.
  const enough = page.after || page.counted ? upToPage : Math.max(LIST_LIMITS.total, upToPage)
  const found = await withD1Retry(() =>
    bindStatement(session, statement, { ...values, enough }).first<FoundDays>(),
  )
  const { days, matches, visited } = required(found, 'row')
  const count = page.counted ?? limitCount(matches)
  if (visited > LIST_LIMITS.days) {
    return { data: [], ...count, last: null, maxDays: LIST_LIMITS.days }
  }
  const query = { ...customerQuery(view, { ...values, days }), ...guardOf(view, filter) }
  return paginate(session, query, { ...page, counted: count })
}

/**
 * Returns the SQL that finds the days with records of a customer. It visits the account's days in order
 * until it has found more than `:enough` records, or has visited one day more than a list may. A page
 * by cursor begins behind the cursor's day.
 */
export function customerDaysSql(
  { table, dayColumn }: RecordTable,
  { from, to }: Filter,
  { after }: Page,
): string {
  const last = to === undefined ? [] : [`${dayColumn} <= :last_day`]
  const first = from === undefined ? [] : [`${dayColumn} >= :first_day`]
  const start = after ? [`${dayColumn} > :after_0`] : first
  const firstDay = (conditions: readonly string[]) =>
    `select min(${dayColumn}) from ${table} not indexed
          where ${['account = :account', ...conditions, ...last].join(' and ')}`
  return `
    with recursive days(next_day, visited_day, here, before, visited) as (
      select (${firstDay(start)}), null, 0, 0, 0
      union all
      select (${firstDay([`${dayColumn} > d.next_day`])}),
        d.next_day,
        (select count(*) from (
          select 1 from ${table} not indexed
          where account = :account and ${dayColumn} = d.next_day and customer_id = :customer_id
            and held = 0
          limit :enough + 1
        )),
        d.before + d.here,
        d.visited + 1
      from days d
      where d.next_day is not null and d.before + d.here <= :enough
        and d.visited <= ${LIST_LIMITS.days}
    )
    select json_group_array(visited_day) filter (where here > 0) as days,
      max(before + here) as matches, max(visited) as visited
    from days`
}

/**
 * Returns the query of a customer's records on `:days`. A page by cursor first reads the rest of the
 * cursor's day, then the days behind it.
 */
export function customerQuery(view: RecordView, values: ListQuery['values']): ListQuery {
  const { recordTable } = view
  const { table, dayColumn } = recordTable
  const key = orderOfDays(view, { customer_id: '' })
  const rest = key.slice(1)
  const ofCustomer = `${table} not indexed
        where account = :account and customer_id = :customer_id and held = 0`
  const onDays = `${ofCustomer} and ${dayColumn} in (select value from json_each(:days))`
  const columns = listColumns(view, key)
  const names = columns.join()
  return {
    columns,
    from: onDays,
    fromCursor: `(
        select ${names} from ${ofCustomer} and ${dayColumn} = :after_0 and ${isBeyondCursor(rest, false, 1)}
        union all
        select ${names} from ${onDays}
      )`,
    key,
    values,
    limitsBytes: true,
  }
}
