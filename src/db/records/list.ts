import { encode } from '../column-types.ts'
import { type FoundPage, type ListQuery, type Page, paginate } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import type { RecordTable } from './record-table.ts'
import type { RecordView } from './record-view.ts'
import { columnList } from './sql-fragments.ts'
import { presentRow } from './wire-form.ts'

/** Narrows a list to a customer and to days, both inclusive. */
export interface Filter {
  customer_id?: string
  from?: string
  to?: string
}

/**
 * Reads one page of an account's records, in the order of their key. An unfiltered page reads as many
 * rows as it shows; a filtered one also reads the matching index entries, since `total` counts them.
 */
export async function listRecords(
  session: D1DatabaseSession,
  view: RecordView,
  account: string,
  filter: Filter,
  page: Page,
): Promise<FoundPage> {
  const found = await paginate(session, listQuery(view, account, filter), page)
  return { ...found, data: found.data.map((row) => presentRow(view, row)) }
}

/** Returns the query of a list. */
export function listQuery(view: RecordView, account: string, filter: Filter): ListQuery {
  const { table, key, encoded, dayColumn } = view.recordTable
  const from = matchingRecords(view.recordTable, filter)
  const isFiltered = Object.keys(filter).length > 0
  return {
    columns: view.columns,
    from,
    key,
    join: `cross join ${table} t on t.account = :account
        and ${key.map((name) => `t.${name} = k.${name}`).join(' and ')}`,
    total: isFiltered
      ? `select count(*) as total from ${from}`
      : 'select total from totals where account = :account and resource = :resource',
    values: {
      account,
      resource: view.name,
      customer_id: encode(encoded.customer_id, filter.customer_id),
      first_day: encode(encoded[dayColumn], filter.from),
      last_day: encode(encoded[dayColumn], filter.to),
    },
    limitsBytes: true,
  }
}

/** Finds the matching records along the key or by day, and those of a customer day by day. */
function matchingRecords(recordTable: RecordTable, filter: Filter): string {
  const { table, canHold, dayColumn, indexes } = recordTable
  const { customer_id, from, to } = filter
  if (customer_id !== undefined && canHold) return recordsOfCustomer(recordTable, filter)
  const isByDay = from !== undefined || to !== undefined
  const index = isByDay ? indexes.day : customer_id === undefined ? indexes.key : null
  // Left to itself the planner may walk the whole key, to save a sort.
  const access = index ? `indexed by ${index}` : 'not indexed'
  const conditions = [
    'account = :account',
    ...(canHold ? ['held = 0'] : []),
    ...(customer_id === undefined ? [] : ['customer_id = :customer_id']),
    ...dayConditions(dayColumn, filter),
  ]
  return `${table} ${access} where ${conditions.join(' and ')}`
}

/**
 * Finds a customer's records on each day of the account that has records. The tables are stored by
 * day and customer: an index by customer would cost each record another write.
 */
function recordsOfCustomer({ table, key, dayColumn }: RecordTable, filter: Filter): string {
  const days = dayConditions(dayColumn, filter)
  const firstDay = (conditions: readonly string[]) =>
    `select min(${dayColumn}) from ${table} where ${['account = :account', ...conditions].join(' and ')}`
  return `(
      with recursive days(stored_day) as (
        ${firstDay(days)}
        union all
        select (${firstDay([`${dayColumn} > stored_day`, ...days])})
        from days where stored_day is not null
      )
      select ${columnList(key, (name) => `r.${name}`)} from days cross join ${table} r
      where r.account = :account and r.${dayColumn} = stored_day and r.customer_id = :customer_id
        and r.held = 0
    ) where true`
}

const dayConditions = (dayColumn: string, { from, to }: Filter) => [
  ...(from === undefined ? [] : [`${dayColumn} >= :first_day`]),
  ...(to === undefined ? [] : [`${dayColumn} <= :last_day`]),
]

/** Reads one record by its id; null if there is none, or if it is held. */
export async function findRecord(
  session: D1DatabaseSession,
  view: RecordView,
  account: string,
  id: string,
): Promise<Record<string, unknown> | null> {
  const statement = compileStatement(findRecordSql(view))
  const {
    encoded,
    key: [name = ''],
  } = view.recordTable
  const key = encoded[name]
  const row = await withD1Retry(() =>
    bindStatement(session, statement, { account, id: encode(key, id) }).first<
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
