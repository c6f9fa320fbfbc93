import { ApiError } from '../errors.ts'
import { dayText } from './column-types.ts'
import type { Connection } from './database.ts'
import { BEGINNING, toDay } from './history.ts'
import { all } from './query.ts'
import { JSON_EACH } from './sql-fragments.ts'
import { bindStatement, compileStatement } from './statement.ts'

// Nothing is written up to the last archived month, and nothing is computed from archived records: whoever meets them
// gets an error that names the months.

/** Returns the month of a day since 1970, such as `2024-03`. */
export const monthText = (day: number): string => dayText(day).slice(0, 'YYYY-MM'.length)

/** An archived month. */
export interface FoundMonth {
  /** In days since 1970. */
  readonly first_day: number
}

/** The error of a request that an archived month stops. */
export class MonthArchived extends ApiError {
  /** What the log calls it: nothing has failed. */
  override name = 'MonthArchived'

  constructor(months: readonly FoundMonth[]) {
    const names = [...new Set(months.map(({ first_day }) => monthText(first_day)))].sort()
    const which = names.join(', ')
    super('month_archived', {
      detail: `Records of ${which} are archived. The integrations team can load ${names.length === 1 ? 'this month' : 'these months'}; requests that concern later days alone are answered.`,
    })
  }
}

/**
 * Throws unless a statement has found no archived month. `rows` are its rows.
 *
 * @throws MonthArchived
 */
export function requireRecords(rows: readonly unknown[]): void {
  if (rows.length > 0) throw new MonthArchived(rows as readonly FoundMonth[])
}

/** Returns the condition that a day of a resource is archived; both are SQL. */
export const isArchivedSql = (resource: string, day: string) =>
  `exists (select 1 from archived_months m where m.account = :account and m.resource = ${resource}
      and ${day} between m.first_day and m.last_day)`

/** Returns the query for the archived days of a resource, as SQL, from `:first_day` to `:last_day`, as `day`. */
export const archivedDaysSql = (resource: string) => `
        select d.value as day from archived_months m cross join json_each(m.days) d
        where m.account = :account and m.resource = ${resource}
          and d.value between :first_day and :last_day`

/** Days of a resource whose records are needed. */
export interface NeededDays {
  readonly resource: string
  /** In days since 1970. */
  readonly days: readonly number[]
}

const ON_DAYS = `
  select m.first_day from archived_months m
  where m.account = :account
    and exists (select 1 from ${JSON_EACH}(:needs) n cross join ${JSON_EACH}(n.value ->> 1) d
      where n.value ->> 0 = m.resource and d.value between m.first_day and m.last_day)`

const needsOf = (needed: readonly NeededDays[]): string =>
  JSON.stringify(needed.map(({ resource, days }) => [resource, days]))

const FIND_ON_DAYS = compileStatement(ON_DAYS)

/**
 * Throws if records of some days are archived.
 *
 * @throws MonthArchived
 */
export async function requireDays(
  db: Connection,
  account: string,
  needed: readonly NeededDays[],
): Promise<void> {
  const values = { account, needs: needsOf(needed) }
  requireRecords(await all(db, FIND_ON_DAYS, values))
}

const OF_CUSTOMERS = compileStatement(`${ON_DAYS}
    and exists (select 1 from ${JSON_EACH}(:ids) i cross join archived_customers a
      where a.account = :account and a.customer_id = i.value and a.first_day = m.first_day)`)

/** Returns the statement that finds the archived months of some days in which customers have records. */
export const archivedMonthsOfCustomers = (
  db: Connection,
  account: string,
  needed: readonly NeededDays[],
  ids: readonly string[],
): D1PreparedStatement =>
  bindStatement(db, OF_CUSTOMERS, { account, needs: needsOf(needed), ids: JSON.stringify(ids) })

/**
 * Returns the query for the archived months of a list of `:resource`: from `:first_day` to `:last_day`, of
 * `:customer_id`, as far as the list is narrowed to these.
 */
export const archivedMonthsOfList = (narrowed: {
  readonly from: boolean
  readonly to: boolean
  readonly customer: boolean
}): string => `
  select m.first_day from archived_months m
  where m.account = :account and m.resource = :resource
    ${narrowed.from ? 'and m.last_day >= :first_day' : ''}
    ${narrowed.to ? 'and m.first_day <= :last_day' : ''}
    ${
      narrowed.customer
        ? `and exists (select 1 from archived_customers a where a.account = m.account
        and a.customer_id = :customer_id and a.first_day = m.first_day)`
        : ''
    }`

/** The query for the archived months of a report on the days from `:first_of_report` to `:last_of_report`. */
export const ARCHIVED_MONTHS_OF_REPORT = `
  select m.first_day from archived_months m
  where m.account = :account and m.resource in (select value from json_each(:resources))
    and m.first_day <= :last_of_report and m.last_day >= :first_of_report`

const FROM_DAY = compileStatement(`
  select m.first_day from archived_months m
  where m.account = :account and m.last_day >= :from and (:ids is null or exists (
    select 1 from json_each(:ids) i where exists (select 1 from archived_customers a
        where a.account = :account and a.customer_id = i.value and a.first_day <= m.first_day)
      or exists (select 1 from customers c where c.account = :account and c.customer_id = i.value
        and min(c.day, ifnull(c.first_seen_day, c.day)) <= m.last_day)))
  order by m.first_day`)

/**
 * Throws if a change takes effect in an archived month or before one: for all customers, or for some who signed up or have
 * archived records by then.
 *
 * @param from The first day of its effect; null: from the beginning.
 * @param ids The customers whom it concerns; null: all.
 * @throws MonthArchived
 */
export async function refuseArchived(
  db: Connection,
  account: string,
  from: string | null,
  ids: readonly string[] | null = null,
): Promise<void> {
  const stored = ids && JSON.stringify(ids)
  const values = { account, ids: stored, from: toDay(from) }
  requireRecords(await all(db, FROM_DAY, values))
}

/** Returns whether months of an account are archived. */
export async function hasArchived(db: Connection, account: string): Promise<boolean> {
  const values = { account, ids: null, from: BEGINNING }
  return (await all(db, FROM_DAY, values)).length > 0
}

/**
 * Returns the first day on which two histories differ, of which each part holds from its `from` on; null if they do
 * from the beginning, undefined if they are the same.
 */
export function firstDifference<Part extends { readonly from: string | null }>(
  before: readonly Part[],
  after: readonly Part[],
  partOf: (part: Part) => unknown,
): string | null | undefined {
  const textOf = (part: Part) => JSON.stringify([part.from, partOf(part)])
  const [old, own] = [before, after].map((parts) => new Set(parts.map(textOf)))
  const differing = [
    ...before.filter((part) => !own?.has(textOf(part))),
    ...after.filter((part) => !old?.has(textOf(part))),
  ]
  const days = differing.map(({ from }) => from ?? '').sort()
  return days[0] === undefined ? undefined : days[0] || null
}
