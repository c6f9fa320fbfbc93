import { decodeRow, encode, encodedColumns } from '../column-types.ts'
import { KNOWN_MEMBERS } from '../directory/event-definitions.ts'
import { all } from '../query.ts'
import { withD1Retry } from '../retry.ts'
import { erasures } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { JSON_EACH } from './sql-fragments.ts'

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

/** Masks the activities of a step. `:kept_fields`: JSON pairs of an event's name and a field. */
const MASK_STEP = compileStatement(`${STEP}
  update events set details = null, record = (
    select json_group_object(m.key, m.value) from json_each(events.record) m
    where m.key in (${KNOWN_MEMBERS.map((name) => `'${name}'`).join()})
      or (events.eventname, m.key) in (
        select value ->> 0, value ->> 1 from ${JSON_EACH}(:kept_fields))
      or (m.key = 'product' and events.eventname not in (
        select value ->> 0 from ${JSON_EACH}(:kept_fields)))
      or exists (select 1 from json_each(events.kpis) k where k.key = m.key)
  )
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
  returning next_day`)

/** An erased customer of an account. */
export interface ErasedCustomer {
  account: string
  customer_id: string
}

/** The members with the product line and the status of each defined event. */
export type KeptFields = readonly (readonly [eventname: string, field: string])[]

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
    customer_id: encode(erasures.customer_id, customer_id),
    kept_fields: JSON.stringify(keptFields),
  }
  const results = await withD1Retry(() =>
    db.batch<{ next_day: number | null }>(
      [MASK_STEP, ADVANCE_MARK].map((statement) => bindStatement(db, statement, values)),
    ),
  )
  return (results[1]?.results[0]?.next_day ?? null) === null
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
  from pending_accounts a where a.account is not null limit :limit`)

/** Returns one customer of each account whose activities are not all masked, for at most `limit` accounts. */
export async function pendingErasures(db: D1Database, limit: number): Promise<ErasedCustomer[]> {
  const results = await all<{ account: string; customer_id: string }>(db, SELECT_PENDING, { limit })
  return results.map((row) => decodeRow(encodedColumns(erasures.$columns), row))
}
