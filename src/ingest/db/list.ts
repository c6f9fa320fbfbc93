import { decodeRow, encode } from '../../platform/db/column-types.ts'
import {
  type FoundPage,
  isBeyondCursor,
  type ListQuery,
  type Page,
  paginate,
} from '../../platform/db/paginate.ts'
import { all } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import type { RecordTable } from './record-table.ts'

/** Narrows a list to a customer and to days, both inclusive. */
export interface Filter {
  customer_id?: string
  from?: string
  to?: string
}

/** Returns the parameters of a list's statements, as SQL stores them. */
function listedValues(view: RecordView, account: string, filter: Filter) {
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

/**
 * Reads one page of an account's records: in the order of their key, or of day and customer if the list is narrowed to
 * days. A page reads as many rows as it shows; the first page also counts the matches.
 */
export async function listRecords(
  session: D1DatabaseSession,
  view: RecordView,
  account: string,
  filter: Filter,
  page: Page,
): Promise<FoundPage> {
  const found = await paginate(session, listQuery(view, account, filter), page)
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

/** Returns the query of a list. */
export function listQuery(view: RecordView, account: string, filter: Filter): ListQuery {
  if (filter.customer_id !== undefined && view.recordTable.canHold)
    return customerQuery(view, account, filter)
  const values = listedValues(view, account, filter)
  const { table, key, canHold, dayColumn, indexes } = view.recordTable
  const { customer_id, from, to } = filter
  const held = canHold ? ' and held = 0' : ''
  const upTo = to === undefined ? '' : ` and ${dayColumn} <= :last_day`
  const since = from === undefined ? '' : ` and ${dayColumn} >= :first_day`
  if (customer_id === undefined && upTo + since !== '') {
    const dayKey = orderOfDays(view, {})
    const access = indexes.day ? `indexed by ${indexes.day}` : 'not indexed'
    const records = `${table} ${access} where account = :account${held}${upTo}`
    return {
      columns: listColumns(view, dayKey),
      from: records + since,
      // The cursor lies behind the first day. With both conditions the database may begin at that day.
      fromCursor: `${records} and ${isBeyondCursor(dayKey)}`,
      key: dayKey,
      values,
      limitsBytes: true,
    }
  }
  const ofCustomer = customer_id === undefined ? '' : ' and customer_id = :customer_id'
  const access = indexes.key ? `indexed by ${indexes.key}` : 'not indexed'
  return {
    columns: view.columns,
    from: `${table} ${access} where account = :account${held}${ofCustomer}${upTo}${since}`,
    key,
    ...(customer_id === undefined && { total: KEPT_TOTAL }),
    values,
    limitsBytes: true,
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

/**
 * Returns the query of a customer's records, in the order of day and key. Records are stored by day and customer: an index by
 * customer would cost each record another write. So it searches each of the account's days with records.
 */
function customerQuery(view: RecordView, account: string, filter: Filter): ListQuery {
  const { from, to } = filter
  const { table, dayColumn } = view.recordTable
  const key = orderOfDays(view, filter)
  const upTo = to === undefined ? '' : ` and ${dayColumn} <= :last_day`
  const firstDay = (condition: string) =>
    `select min(${dayColumn}) from ${table} not indexed where account = :account${condition}${upTo}`
  const recordsFrom = (start: string) => `(
        with recursive days(on_day) as (
          select (${firstDay(start)})
          union all
          select (${firstDay(` and ${dayColumn} > on_day`)}) from days where on_day is not null
        ) select on_day from days where on_day is not null)
      cross join ${table} not indexed
        on account = :account and ${dayColumn} = on_day and customer_id = :customer_id and held = 0
      where true`
  return {
    columns: listColumns(view, key),
    from: recordsFrom(from === undefined ? '' : ` and ${dayColumn} >= :first_day`),
    fromCursor: `${recordsFrom(` and ${dayColumn} >= :after_0`)} and ${isBeyondCursor(key)}`,
    key,
    values: listedValues(view, account, filter),
    limitsBytes: true,
  }
}
