import { markSignups } from '../../ingest/db/changed.ts'
import { erasedValue } from '../../ingest/db/merge.ts'
import {
  brandCustomerTable,
  KNOWN_MEMBERS,
  partnerCustomerTable,
  type RecordTable,
} from '../../ingest/db/record-table.ts'
import { keepFieldsSql } from '../../ingest/db/write-sql.ts'
import { decodeRow } from '../../platform/db/column-types.ts'
import { isDoorOpen } from '../../platform/db/door.ts'
import { BEGINNING } from '../../platform/db/history.ts'
import { type FoundPage, listRows, type Page } from '../../platform/db/paginate.ts'
import { all, only } from '../../platform/db/query.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import { columnList, JSON_EACH, rowValue } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { encodedColumns, type RowOf } from '../../platform/db/table.ts'
import { erasures } from '../../platform/db/tables.ts'
import { DAY_MS } from '../../platform/durations.ts'

/** A customer whose personal data was erased, and the time. */
export type Erasure = Pick<RowOf<typeof erasures>, 'customer_id' | 'erased_at'>

/** An erasure, and whether the customer's activities are done as well. */
interface ListedErasure extends Erasure {
  complete: boolean
}

/** The values of `next_day` and `after_id` of an erasure whose activities are still to be masked. */
const START = `iif(:has_activities, ${BEGINNING}, null), iif(:has_activities, '', null)`

const insertErasures = (onConflict: string) =>
  compileStatement(`
  insert into erasures (account, customer_id, erased_at, next_day, after_id)
  select :account, value ->> 0, value ->> 1, ${START} from ${JSON_EACH}(:rows)
  where true on conflict (account, customer_id) ${onConflict}`)

const INSERT_ERASURES = insertErasures('do nothing')

/** A restored database has the activities of before: they are masked again from the first day. */
const REPEAT_ERASURES = insertErasures(`do update
  set next_day = excluded.next_day, after_id = excluded.after_id
  where (next_day, after_id) is not (excluded.next_day, excluded.after_id)`)

/** Returns the statement that clears what an erasure removes from the stored customers of a table. */
function clearCustomers({ personalColumns }: RecordTable) {
  const stored = (name: string) => name
  const erased = (name: string) => erasedValue(name, stored)
  return compileStatement(`
  update customers set ${columnList(personalColumns, (name) => `${name} = ${erased(name)}`)}
  where account = :account and customer_id in (select value ->> 0 from ${JSON_EACH}(:rows))
    and ${rowValue(personalColumns, stored)} is not ${rowValue(personalColumns, erased)}`)
}

const CLEAR_PARTNER_CUSTOMERS = clearCustomers(partnerCustomerTable)
const CLEAR_BRAND_CUSTOMERS = clearCustomers(brandCustomerTable)

/**
 * Clears the country in the history of a brand's customers, as a brand sent it: the last value was added before.
 *
 * Where a plan has conditions on countries, the history keeps the codes of the days before the erasure,
 * without anything that names the customer: a statement that was approved must not change. Other texts
 * than codes may name a person and are cleared.
 */
const CLEAR_HISTORY = compileStatement(`
  update customer_fields set country_code = null
  where account = :account and customer_id in (select value ->> 0 from ${JSON_EACH}(:rows))
    and country_code is not null and (country_code not glob '[A-Za-z][A-Za-z]' or not exists (
      select 1 from plan_versions v, json_tree(v.terms) t
      where v.account = :account and t.key in ('countries', 'not_countries')))`)

/** Keeps the country of a brand's customers up to today. */
const KEEP_COUNTRY = compileStatement(
  keepFieldsSql(
    ['country_code'],
    't.delivery',
    `from ${JSON_EACH}(:rows) r cross join customers t on t.account = :account and t.customer_id = r.value ->> 0
    where t.country_code is not null`,
  ),
)

/** Clears what affiliates and the team wrote about a customer: it may name them. */
const CLEAR_MESSAGES = compileStatement(`
  update affiliate_question_messages set text = null
  where account = :account and text is not null and question in (
    select q.id from ${JSON_EACH}(:rows) r
    cross join affiliate_questions q on q.account = :account and q.customer_id = r.value ->> 0)`)

/** Deletes how a customer came, which was kept for postbacks. */
const DROP_SUBS = compileStatement(`
  delete from postback_customers where account = :account
    and customer_id in (select value ->> 0 from ${JSON_EACH}(:rows))`)

/** Clears the same, and the country, in events of postbacks that have not expired. */
const CLEAR_POSTBACKS = compileStatement(`
  update webhook_events set data = json_remove(data, '$.country',
    '$.sub1', '$.sub2', '$.sub3', '$.sub4', '$.sub5')
  where account = :account and id in (
    select v.id from (
      select 1 from webhook_endpoints where account = :account and affiliate_id is not null limit 1) e
    cross join webhook_events v on v.account = :account and v.affiliate_id is not null
    where v.data ->> 'customer' in (select value from ${JSON_EACH}(:ids)))`)

/** What an erasure does beside clearing the columns of the customer. */
interface ErasureScope {
  /** Whether the account is a brand's: its customers have activities, which are then masked in steps. */
  isBrand: boolean
  /** Whether activities that were masked before are masked again. */
  isRepeated: boolean
}

/**
 * Erases the personal data of customers, stored or not: clears what is stored, and records the
 * erasure, so that data which arrives later is not kept. A repeated erasure changes nothing. The
 * stored activities of a brand are masked afterwards: see `maskNextActivities`.
 */
export function erasePersonalData(
  db: D1Database,
  account: string,
  erased: readonly Erasure[],
  { isBrand, isRepeated }: ErasureScope,
): D1PreparedStatement[] {
  const rows = JSON.stringify(erased.map((one) => [one.customer_id, one.erased_at]))
  const erasedIds = erased.map(({ customer_id }) => customer_id)
  const ids = JSON.stringify(erasedIds)
  const has_activities = Number(isBrand)
  const insert = isRepeated ? REPEAT_ERASURES : INSERT_ERASURES
  const clear = isBrand ? CLEAR_BRAND_CUSTOMERS : CLEAR_PARTNER_CUSTOMERS
  return [
    markSignups(db, account, erasedIds),
    bindStatement(db, insert, { account, rows, has_activities }),
    ...(isBrand
      ? [bindStatement(db, KEEP_COUNTRY, { account, rows, day: Math.floor(Date.now() / DAY_MS) })]
      : []),
    bindStatement(db, clear, { account, rows }),
    ...(isBrand ? [bindStatement(db, CLEAR_HISTORY, { account, rows })] : []),
    bindStatement(db, CLEAR_MESSAGES, { account, rows }),
    bindStatement(db, DROP_SUBS, { account, rows }),
    bindStatement(db, CLEAR_POSTBACKS, { account, ids }),
  ]
}

const FIND_CUSTOMER = compileStatement(`
  select exists (select 1 from customers where account = :account and customer_id = :customer_id)
    or exists (select 1 from events indexed by events_held
      where account = :account and customer_id = :customer_id and held = 1) as found`)

/** Returns whether this customer of an account is stored, or has activities that wait for them. */
export async function customerExists(
  db: D1Database,
  account: string,
  id: string,
): Promise<boolean> {
  const row = await only<{ found: number }>(db, FIND_CUSTOMER, { account, customer_id: id })
  return row.found === 1
}

/** Reads one page of an account's erasures, in the order of the customer ids. */
export async function listErasures(
  db: D1Database,
  account: string,
  page: Page,
): Promise<FoundPage<ListedErasure>> {
  const columns = ['customer_id', 'erased_at', 'next_day'] as const
  const found = await listRows(db, { table: erasures, columns, key: 'customer_id', account }, page)
  const data = found.data.map(({ next_day, ...erasure }) => ({
    ...erasure,
    complete: next_day === null,
  }))
  return { ...found, data }
}

// An erasure masks the stored activities of a brand's customer: `record` keeps the known members, the
// status and the KPIs, and `details` becomes null. A customer can have any number of activities, so this takes
// steps. The row of the erasure marks how far they are.

/** The maximum number of activities of one step, and of days of the account that a step visits. */
const ROWS_PER_STEP = 1000
const DAYS_PER_STEP = 2000

/** The days of the account from the mark on, and the activities of the customer on these days. */
const STEP = `
  with recursive mark as materialized (
    select next_day, after_id from erasures
    where account = :account and customer_id = :customer_id
  ),
  days(day, number) as (
    select next_day, 1 from mark
    union all
    select (select min(e.day) from events e where e.account = :account and e.day > d.day), number + 1
    from days d where d.day is not null and number < ${DAYS_PER_STEP}
  ),
  step as materialized (
    select e.day, e.id from mark cross join days d cross join events e
    where e.account = :account and e.day = d.day and e.customer_id = :customer_id
      and e.id > iif(d.day = mark.next_day, mark.after_id, '')
    limit ${ROWS_PER_STEP}
  )`

/** What an erasure leaves of the record of an event. Unless its definition names another member, `product` is its product line. */
const MASKED = `(
    select json_group_object(m.key, m.value) from json_each(events.record) m
    where m.key in (${KNOWN_MEMBERS.map((name) => `'${name}'`).join()})
      or (events.eventname, m.key) in (
        select value ->> 0, value ->> 1 from ${JSON_EACH}(:kept_fields))
      or (lower(m.key) = 'product' and events.eventname not in (
        select value ->> 0 from ${JSON_EACH}(:kept_fields) where value ->> 2))
      or exists (select 1 from json_each(events.kpis) k where k.key = m.key)
  )`

/** Masks the activities of a step. */
const MASK_STEP = compileStatement(`${STEP}
  update events set details = null, record = ${MASKED}
  where details is not null
    and (account, day, customer_id, id) in (
      select :account, s.day, :customer_id, s.id from step s)`)

/** Moves the mark behind the step: behind its last activity, or behind its last day, or to the end. */
const ADVANCE_MARK = compileStatement(`${STEP},
  filled as materialized (select count(*) = ${ROWS_PER_STEP} as is_full from step),
  next as (
    select * from (select day, id from step where (select is_full from filled)
      order by day desc, id desc limit 1)
    union all
    select max(day) + 1, '' from days where not (select is_full from filled)
    having count(day) = ${DAYS_PER_STEP}
  )
  update erasures set (next_day, after_id) = (select day, id from next)
  where account = :account and customer_id = :customer_id and next_day is not null
`)

const IS_PENDING = compileStatement(`select 1 as pending from erasures
  where account = :account and customer_id = :customer_id and next_day is not null`)

/** An erased customer of an account. */
export interface ErasedCustomer {
  account: string
  customer_id: string
}

/** The members with the product line and the status of each defined event. */
export type KeptFields = readonly (readonly [
  eventname: string,
  field: string,
  isProduct: boolean,
])[]

/**
 * Masks the next activities of an erased customer, at most 1000. Returns whether all are done. Safe to
 * run several times at once.
 */
export async function maskNextActivities(
  db: D1Database,
  { account, customer_id }: ErasedCustomer,
  keptFields: KeptFields,
): Promise<boolean> {
  const values = {
    account,
    customer_id,
    kept_fields: JSON.stringify(keptFields),
  }
  const results = await withD1Retry(() =>
    db.batch([MASK_STEP, ADVANCE_MARK, IS_PENDING].map((one) => bindStatement(db, one, values))),
  )
  return results[2]?.results.length === 0
}

const SELECT_PENDING = compileStatement(`
  with recursive pending_accounts(account) as (
    select min(account) from erasures indexed by erasures_pending where next_day is not null
    union all
    select (select min(account) from erasures indexed by erasures_pending
      where next_day is not null and account > a.account)
    from pending_accounts a where a.account is not null
  )
  select a.account, (select min(customer_id) from erasures indexed by erasures_pending
    where next_day is not null and account = a.account) as customer_id
  from pending_accounts a where a.account is not null and ${isDoorOpen('a.account')}
  limit :limit`)

/** Returns one customer of each account whose activities are not all masked, for at most `limit` accounts. */
export async function pendingErasures(db: D1Database, limit: number): Promise<ErasedCustomer[]> {
  const results = await all<{ account: string; customer_id: string }>(db, SELECT_PENDING, { limit })
  return results.map((row) => decodeRow(encodedColumns(erasures), row))
}
