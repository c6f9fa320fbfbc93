import { isUnchanged } from '../../ingest/db/changed.ts'
import { ARCHIVED_TABLES, type ArchivedResource } from '../../platform/db/archive-tables.ts'
import { monthText } from '../../platform/db/archived.ts'
import type { Connection } from '../../platform/db/database.ts'
import { only } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import type { Month } from './months.ts'

/** What may keep the records of a month in the database. */
export interface MonthState {
  /** 1 if a record of the month or before it waits for its customer. */
  readonly held: 0 | 1
  /** 1 if an export has the present records. */
  readonly exported: 0 | 1 | null
  /** 1 if the control totals of a day are not kept. */
  readonly unsummed: 0 | 1
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
  select
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
    account,
    resource,
    first_day,
    last_day,
    form,
    month: monthText(first_day),
  })
