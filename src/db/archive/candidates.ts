import { DAY_MS } from '../../durations.ts'
import { isClosedFor } from '../commission/books/booked.ts'
import { isDraft } from '../commission/books/is-draft.ts'
import type { Connection } from '../database.ts'
import { all, only } from '../query.ts'
import { compileStatement } from '../statement.ts'
import { forEachTable, type Month } from './months.ts'
import { ARCHIVED_TABLES, type ArchivedResource } from './tables.ts'

/** Returns the SQL of the first day of the month that lies so many months after that of a day. */
const monthStart = (day: string, months: 0 | 1) =>
  `(unixepoch(${day} * 86400, 'unixepoch', 'start of month'${months === 1 ? ", '+1 month'" : ''}) / 86400)`

/** A month of a resource whose records are in the database, and what may keep them there. */
export interface CandidateMonth {
  readonly first_day: number
  readonly last_day: number
  /** 1 if a record waits for its customer. */
  readonly held: 0 | 1
  /** 1 if the records came back less than 30 days ago: the objects of before are kept so long. */
  readonly restored: 0 | 1
  /** 1 if statements read the records themselves, since their facts are not kept or have changed. */
  readonly read: 0 | 1
}

/**
 * Finds the months before a day. Statements are computed from kept facts, if all days of the month have them, and
 * none has changed since.
 */
const LIST_CANDIDATES = forEachTable(({ table, dayColumn }) => {
  const inMonth = `account = :account and ${dayColumn} between m.first_day and m.last_day`
  return `
  with recursive days(stored_day) as (
    select min(${dayColumn}) from ${table} not indexed where account = :account
    union all
    select (select min(${dayColumn}) from ${table} not indexed
      where account = :account and ${dayColumn} >= ${monthStart('stored_day', 1)})
    from days where stored_day < :before
  ),
  months(first_record, first_day, last_day) as (
    select stored_day, ${monthStart('stored_day', 0)}, ${monthStart('stored_day', 1)} - 1 from days
    where stored_day is not null
  )
  select m.first_day, m.last_day,
    exists (select 1 from ${table} indexed by ${table}_held where ${inMonth} and held = 1) as held,
    exists (select 1 from retired_archives where account = :account
      and prefix between :place || strftime('%Y-%m', m.first_day * 86400, 'unixepoch') || '/'
        and :place || strftime('%Y-%m', m.first_day * 86400, 'unixepoch') || '/~'
      and delete_at > :now) as restored,
    exists (select 1 from assignments where account = :account) and (
      not exists (select 1 from kept_days k where k.account = :account and k.ready = 1
        and k.first_day <= m.first_record
        and k.last_day >= (select max(${dayColumn}) from ${table} not indexed where ${inMonth}))
      or exists (select 1 from kept_days k join changed_days c on c.account = :account
          and c.first_day = k.first_day and c.generation = k.generation
        where k.account = :account and c.day between m.first_day and m.last_day)) as read
  from months m
  where m.last_day < :before and not exists (select 1 from archived_months a
    where a.account = :account and a.resource = :resource and a.first_day = m.first_day)
  order by m.first_day`
})

/** Returns the months of a resource whose last day is before a day (since 1970), the first one first. */
export const listCandidates = (
  db: Connection,
  account: string,
  resource: ArchivedResource,
  { before, now }: { readonly before: number; readonly now: number },
): Promise<CandidateMonth[]> =>
  all(db, LIST_CANDIDATES[resource], {
    ...{ account, resource, before, now, place: placeOf(account, resource) },
  })

/** The beginning of the keys of all objects of a resource. */
export const placeOf = (account: string, resource: ArchivedResource): string =>
  `archive/${account}/${resource}/`

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

/** Compares the files of a month with its records: a record that is sent again has a later delivery. */
const IS_EXPORTED = forEachTable(
  ({ table, dayColumn }) => `
  select e.records = r.records and e.last_delivery >= r.last_delivery as exported
  from (select sum(records) as records, max(last_delivery) as last_delivery from exports
    where account = :account and resource = :resource and month = :month and part > 0
      and replaced_at is null) e,
    (select count(*) as records, max(delivery) as last_delivery from ${table} not indexed
      where account = :account and ${dayColumn} between :first_day and :last_day) r`,
)

/** Returns whether an export has the present records of a month. */
export async function isExported(
  db: Connection,
  { account, resource, first_day, last_day }: Month,
): Promise<boolean> {
  const month = new Date(first_day * DAY_MS).toISOString().slice(0, 'YYYY-MM'.length)
  const values = { account, resource, first_day, last_day, month }
  return (await only<{ exported: number | null }>(db, IS_EXPORTED[resource], values)).exported === 1
}

const HAS_RECORDS = compileStatement(`
  select ${Object.values(ARCHIVED_TABLES)
    .map(
      ({ table, dayColumn }) =>
        `exists (select 1 from ${table} not indexed where account = :account and ${dayColumn} < :before)`,
    )
    .join(' or ')} as found`)

/** Returns whether an account has records in its database from before a day (since 1970). */
export const hasRecordsBefore = async (
  db: Connection,
  account: string,
  before: number,
): Promise<boolean> =>
  (await only<{ found: 0 | 1 }>(db, HAS_RECORDS, { account, before })).found === 1

/** The resources whose old records are archived. */
export const ARCHIVED_RESOURCES = Object.keys(ARCHIVED_TABLES) as readonly ArchivedResource[]
