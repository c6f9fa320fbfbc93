import { isClosedFor } from '../../commission/db/booked.ts'
import { isDraft } from '../../commission/db/is-draft.ts'
import { isUnchanged } from '../../ingest/db/changed.ts'
import { ARCHIVED_TABLES, type ArchivedResource } from '../../platform/db/archive-tables.ts'
import { monthText } from '../../platform/db/archived.ts'
import type { Connection } from '../../platform/db/database.ts'
import { all, only } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import type { Month } from './months.ts'

/** Returns the SQL of the first day of the month that lies so many months after that of a day. */
const monthStart = (day: string, months: 0 | 1) =>
  `(unixepoch(${day} * 86400, 'unixepoch', 'start of month'${months === 1 ? ", '+1 month'" : ''}) / 86400)`

const listMonths = ({ table, dayColumn, leaves }: (typeof ARCHIVED_TABLES)[ArchivedResource]) =>
  compileStatement(`
  with recursive days(stored_day) as (
    select min(${dayColumn}) from ${table} not indexed where account = :account and ${leaves}
    union all
    select (select min(${dayColumn}) from ${table} not indexed
      where account = :account and ${dayColumn} >= ${monthStart('stored_day', 1)} and ${leaves})
    from days where stored_day < :before
  )
  select ${monthStart('stored_day', 0)} as first_day, ${monthStart('stored_day', 1)} - 1 as last_day
  from days
  where ${monthStart('stored_day', 1)} <= :before and not exists (select 1 from archived_months m
    where m.account = :account and m.first_day = ${monthStart('stored_day', 0)})
  order by 1`)

/** Returns the months before a day (since 1970) with records that can be archived, the first one first. */
export async function listOldMonths(
  db: Connection,
  account: string,
  resource: ArchivedResource,
  before: number,
): Promise<Month[]> {
  const statement = listMonths(ARCHIVED_TABLES[resource])
  const found = await all<Pick<Month, 'first_day' | 'last_day'>>(db, statement, { account, before })
  return found.map((one) => ({ account, resource, ...one }))
}

/** The periods of a plan that decide which months are closed; null if there is none. */
export interface PlanPeriods {
  readonly plan: string
  /** The first one with a draft that nobody has approved. */
  readonly first_open: string | null
  readonly first_approved: string | null
  readonly last_approved: string | null
}

const READ_PERIODS = compileStatement(`
  select p.plan,
    (select min(s.period) from statements s indexed by statements_status
      where s.account = :account and ${isDraft('s.status')} and s.plan = p.plan
        and s.statement is not null
        and not ${isClosedFor({ affiliate: 's.affiliate_id', plan: 's.plan', period: 's.period' })}
    ) as first_open,
    (select min(s.period) from statements s indexed by statements_closed
      where s.account = :account and s.plan = p.plan and s.status <> 'draft') as first_approved,
    (select max(period) from (
      select max(s.period) as period from statements s indexed by statements_closed
        where s.account = :account and s.plan = p.plan and s.status <> 'draft'
      union all
      select max(c.period) from closed_periods c where c.account = :account and c.plan = p.plan)
    ) as last_approved
  from (select distinct plan from plan_versions where account = :account) p order by p.plan`)

/** Reads which periods of each plan are approved, and which is the first that is not. */
export const readPlanPeriods = (db: Connection, account: string): Promise<PlanPeriods[]> =>
  all(db, READ_PERIODS, { account })

/** What may keep the records of a month in the database. */
export interface MonthState {
  /** 1 if a record of the month or before it waits for its customer. */
  readonly held: 0 | 1
  /** 1 if an export has the present records. */
  readonly exported: 0 | 1 | null
  /** 1 if the control totals of a day are not kept. */
  readonly unsummed: 0 | 1
  /** The last delivery that wrote one of the records. */
  readonly last_delivery: string
}

const isHeld = (table: string, dayColumn: string) =>
  `exists (select 1 from ${table} indexed by ${table}_held where account = :account and held = 1
      and ${dayColumn} <= :last_day)`

const readState = ({ table, dayColumn }: (typeof ARCHIVED_TABLES)[ArchivedResource]) => {
  const inMonth = `account = :account and ${dayColumn} between :first_day and :last_day`
  return compileStatement(`
  with r as materialized (
    select count(*) as records, max(delivery) as last_delivery, count(distinct ${dayColumn}) as days
    from ${table} not indexed where ${inMonth}
  )
  select r.last_delivery,
    ${isHeld('transactions', 'day')} or ${isHeld('activity', 'date')} or ${isHeld('events', 'day')} as held,
    (select sum(e.records) = r.records and max(e.last_delivery) >= r.last_delivery from exports e
      where e.account = :account and e.resource = :resource and e.month = :month and e.part > 0
        and e.replaced_at is null) as exported,
    r.days > (select count(*) from day_totals k where k.account = :account and k.resource = :resource
      and k.day between :first_day and :last_day and k.form = :form
        and ${isUnchanged('k.resource', 'k.day', 'k.position')}) as unsummed
  from r`)
}

/**
 * Reads what may keep a month in the database.
 *
 * @param form The form of the control totals of its resource.
 */
export const readMonthState = (
  db: Connection,
  { account, resource, first_day, last_day }: Month,
  form: string,
): Promise<MonthState> =>
  only(db, readState(ARCHIVED_TABLES[resource]), {
    ...{ account, resource, first_day, last_day, form, month: monthText(first_day) },
  })
