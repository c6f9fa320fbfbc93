import { required } from '../batch.ts'
import { encode } from '../column-types.ts'
import { type FoundPage, isBeyondCursor, type ListQuery, type Page, paginate } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { listCustomerRecords } from './customer-list.ts'
import { type Filter, filterValues, listColumns } from './list-filter.ts'
import type { RecordView } from './record-view.ts'
import { presentRow } from './wire-form.ts'

/**
 * Reads one page of an account's records: in the order of their key, or of day and customer if the list
 * is narrowed to days. A page reads as many rows as it shows; the first page also counts the matches.
 */
export async function listRecords(
  session: D1DatabaseSession,
  view: RecordView,
  account: string,
  filter: Filter,
  page: Page,
): Promise<FoundPage> {
  const isOfCustomer = filter.customer_id !== undefined && view.recordTable.canHold
  const found = isOfCustomer
    ? await listCustomerRecords(session, view, account, filter, page)
    : await paginate(session, listQuery(view, account, filter), page)
  return { ...found, data: found.data.map((row) => presentRow(view, pickColumns(view, row))) }
}

/** Returns a row without the columns that only order the list. */
const pickColumns = ({ columns }: RecordView, row: Record<string, unknown>) =>
  Object.fromEntries(columns.map((name) => [name, row[name]]))

/** Returns the query of a list; `listCustomerRecords` reads the records of one customer. */
export function listQuery(view: RecordView, account: string, filter: Filter): ListQuery {
  const values = filterValues(view, account, filter)
  const { table, key, canHold, dayColumn, indexes } = view.recordTable
  const { customer_id, from, to } = filter
  const held = canHold ? ' and held = 0' : ''
  if (from !== undefined || to !== undefined) {
    const dayKey = [...new Set([dayColumn, 'customer_id', ...key])]
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
  }
}

/** The number of records of a resource, which each delivery keeps. */
const KEPT_TOTAL = 'select total from totals where account = :account and resource = :resource'

/** Reads one record by its id; null if there is none, or if it is held. */
export async function findRecord(
  session: D1DatabaseSession,
  view: RecordView,
  account: string,
  id: string,
): Promise<Record<string, unknown> | null> {
  const statement = compileStatement(findRecordSql(view))
  const { encoded, key } = view.recordTable
  const type = encoded[required(key[0], 'key column')]
  const row = await withD1Retry(() =>
    bindStatement(session, statement, { account, id: encode(type, id) }).first<
      Record<string, unknown>
    >(),
  )
  return row && presentRow(view, row)
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
