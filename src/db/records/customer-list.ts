import { required } from '../batch.ts'
import {
  cursorValues,
  type FoundPage,
  isBeyondCursor,
  LIST_LIMITS,
  type ListQuery,
  limitCount,
  type Page,
  paginate,
} from '../paginate.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { type Filter, filterValues, listColumns } from './list-filter.ts'
import type { RecordTable } from './record-table.ts'
import type { RecordView } from './record-view.ts'

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
export async function listCustomerRecords(
  session: D1DatabaseSession,
  view: RecordView,
  account: string,
  filter: Filter,
  page: Page,
): Promise<FoundPage> {
  const values = { ...filterValues(view, account, filter), ...cursorValues(page) }
  const statement = compileStatement(customerDaysSql(view.recordTable, filter, page))
  // The first page also counts the matches.
  const enough = page.after ? page.size : Math.max(LIST_LIMITS.total, page.number * page.size)
  const found = await withD1Retry(() =>
    bindStatement(session, statement, { ...values, enough }).first<FoundDays>(),
  )
  const { days, matches, visited } = required(found, 'row')
  const count = page.counted ?? limitCount(matches)
  if (visited > LIST_LIMITS.days) {
    return { data: [], ...count, last: null, maxDays: LIST_LIMITS.days }
  }
  const query = customerQuery(view, { ...values, days })
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
  const rest = recordTable.key.filter((name) => name !== 'customer_id' && name !== dayColumn)
  const key = [dayColumn, ...rest]
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
