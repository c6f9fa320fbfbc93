import { ApiError } from '../../errors.ts'
import { dayText } from '../column-types.ts'
import type { Connection } from '../database.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { AWAY, type TouchedMonth } from './touched.ts'

/** Every minute, a cron restores the months that are needed. */
const RESTORE_SECONDS = 60

const monthText = (first_day: number) => dayText(first_day).slice(0, 'YYYY-MM'.length)

/** A month of a resource that a request needs. */
export interface NeededMonth extends TouchedMonth {
  readonly resource: string
}

function detailOf(needed: readonly TouchedMonth[], result: string): string {
  const months = [...new Set(needed.map(({ first_day }) => monthText(first_day)))].sort().join(', ')
  const fault = needed.find((one) => one.fault !== null)?.fault
  const progress = fault
    ? `An object of the archive is damaged: \`${fault}\`. The integrations team must repair it.`
    : 'They are being restored.'
  return `Records of ${months} are archived. ${progress}${result} Repeat the same request after ${RESTORE_SECONDS} seconds.`
}

/** The error of a request that needs the records of months that are archived. */
export class RecordsArchived extends ApiError {
  /** What the log calls it: nothing has failed. */
  override name = 'RecordsArchived'
  readonly months: readonly NeededMonth[]

  /** @param result What became of the request, as a sentence behind a space. */
  constructor(resource: string, months: readonly TouchedMonth[], result?: string)
  constructor(resource: null, months: readonly NeededMonth[], result?: string)
  constructor(
    resource: string | null,
    months: readonly (TouchedMonth & { readonly resource?: string })[],
    result = '',
  ) {
    super('unavailable', {
      detail: detailOf(months, result),
      headers: { 'Retry-After': String(RESTORE_SECONDS) },
    })
    this.months = months.map((one) => ({ ...one, resource: resource ?? one.resource ?? '' }))
  }
}

const WANT = compileStatement(`
  update archived_months set wanted_at = coalesce(wanted_at, :now)
  where (account, resource, first_day) in (
      select :account, value ->> 0, value ->> 1 from ${JSON_EACH}(:months))
    and state in ${AWAY}`)

/** Returns the statement that has months restored. */
export const restoreMonths = (
  db: Connection,
  account: string,
  months: readonly Pick<NeededMonth, 'resource' | 'first_day'>[],
): D1PreparedStatement =>
  bindStatement(db, WANT, {
    account,
    months: JSON.stringify(months.map(({ resource, first_day }) => [resource, first_day])),
    now: Date.now(),
  })

/** Has the months restored that a request needs. */
const wantMonths = (
  db: Connection,
  account: string,
  months: readonly NeededMonth[],
): Promise<unknown> => withD1Retry(() => restoreMonths(db, account, months).run())

/**
 * Ends a request that needs the records of some months, and has them restored.
 *
 * @throws RecordsArchived
 */
export async function restoreFirst(
  db: Connection,
  account: string,
  months: readonly NeededMonth[],
): Promise<never> {
  await wantMonths(db, account, months)
  throw new RecordsArchived(null, months)
}

/** Does work. If it needs archived records, has their months restored, and throws `RecordsArchived`. */
export async function orRestore<T>(
  db: Connection,
  account: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RecordsArchived) await wantMonths(db, account, error.months)
    throw error
  }
}

const ON_DAYS_SQL = `
  select m.resource, m.first_day, m.fault from archived_months m
  where m.account = :account and m.state in ${AWAY}
    and exists (select 1 from ${JSON_EACH}(:needs) n cross join ${JSON_EACH}(n.value ->> 1) d
      where n.value ->> 0 = m.resource and d.value between m.first_day and m.last_day)`

const ON_DAYS = compileStatement(ON_DAYS_SQL)

/** Days of a resource whose records are needed. */
export interface NeededDays {
  readonly resource: string
  /** In days since 1970. */
  readonly days: readonly number[]
}

const needsOf = (needed: readonly NeededDays[]): string =>
  JSON.stringify(needed.map(({ resource, days }) => [resource, days]))

/** Returns the archived months of some days. */
export async function archivedMonthsOf(
  db: Connection,
  account: string,
  needed: readonly NeededDays[],
): Promise<NeededMonth[]> {
  const values = { account, needs: needsOf(needed) }
  const { results } = await withD1Retry(() => bindStatement(db, ON_DAYS, values).all<NeededMonth>())
  return results
}

/**
 * Throws unless a statement has found no month. `rows` are its rows.
 *
 * @throws RecordsArchived
 */
export function requireRecords(rows: readonly unknown[]): void {
  if (rows.length > 0) throw new RecordsArchived(null, rows as readonly NeededMonth[])
}

const OF_RECORDS = compileStatement(`
  select m.resource, m.first_day, m.fault from ${JSON_EACH}(:records) s
  cross join archived_records r on r.account = :account and r.resource = s.value ->> 0
    and r.id = s.value ->> 1
  cross join archived_months m on m.account = r.account and m.resource = r.resource
    and m.first_day = r.first_day and m.state in ${AWAY}`)

/** Returns the statement that finds the archived months of records, each named by its resource and its stored id. */
export const archivedMonthsOfRecords = (
  db: Connection,
  account: string,
  records: readonly (readonly [resource: string, id: unknown])[],
): D1PreparedStatement =>
  bindStatement(db, OF_RECORDS, { account, records: JSON.stringify(records) })

const OF_RECORD = compileStatement(`
  select m.resource, m.first_day, m.fault from archived_records r
  cross join archived_months m on m.account = r.account and m.resource = r.resource
    and m.first_day = r.first_day and m.state in ${AWAY}
  where r.account = :account and r.resource = :resource and r.id = :id`)

/** Returns the statement that finds the archived month of one record. */
export const archivedMonthOfRecord = (
  db: Connection,
  account: string,
  resource: string,
  id: unknown,
): D1PreparedStatement => bindStatement(db, OF_RECORD, { account, resource, id })

/**
 * Returns the query for the archived months of a list of `:resource`: from `:first_day` to `:last_day`, of
 * `:customer_id`, as far as the list is narrowed to these.
 */
export const archivedMonthsOfList = (narrowed: {
  readonly from: boolean
  readonly to: boolean
  readonly customer: boolean
  /** Whether the page begins behind the day `:after_0`. */
  readonly cursor: boolean
}): string => `
  select m.resource, m.first_day, m.fault from archived_months m
  where m.account = :account and m.resource = :resource and m.state in ${AWAY}
    ${narrowed.from ? 'and m.last_day >= :first_day' : ''}
    ${narrowed.to ? 'and m.first_day <= :last_day' : ''}
    ${narrowed.cursor ? 'and m.last_day >= :after_0' : ''}
    ${
      narrowed.customer
        ? `and exists (select 1 from archived_customers a where a.account = m.account
        and a.resource = m.resource and a.first_day = m.first_day and a.customer_id = :customer_id)`
        : ''
    }`

/** The query for the archived months of a report on the days from `:first_of_report` to `:last_of_report`. */
export const ARCHIVED_MONTHS_OF_REPORT = `
  select m.resource, m.first_day, m.fault from archived_months m
  where m.account = :account and m.state in ${AWAY}
    and m.resource in (select value from json_each(:resources))
    and m.first_day <= :last_of_report and m.last_day >= :first_of_report`

/** The month `m` has records of a customer `a` of `:ids` of whom another condition is true, if one is given. */
const hasCustomer = (
  also = 'true',
) => `exists (select 1 from ${JSON_EACH}(:ids) i cross join archived_customers a
      where a.account = :account and a.resource = m.resource and a.first_day = m.first_day
        and a.customer_id = i.value and ${also})`

const OF_CUSTOMERS = compileStatement(`${ON_DAYS_SQL} and ${hasCustomer()}`)

/** Returns the statement that finds the archived months of some days in which customers have records. */
export const archivedMonthsOfCustomers = (
  db: Connection,
  account: string,
  needed: readonly NeededDays[],
  ids: readonly string[],
): D1PreparedStatement =>
  bindStatement(db, OF_CUSTOMERS, { account, needs: needsOf(needed), ids: JSON.stringify(ids) })

/** The object `o` is of the month, and has a record that a delivery from `:since` on may have written. */
const HAS_LATER_DELIVERY = `exists (select 1 from archive_objects o
      where o.account = m.account and o.resource = m.resource and o.first_day = m.first_day
        and o.deliveries ->> 1 >= :since)`

const WRITTEN_SINCE = compileStatement(`${ON_DAYS_SQL} and ${HAS_LATER_DELIVERY}`)

const WRITTEN_SINCE_OF_CUSTOMERS = compileStatement(
  `${ON_DAYS_SQL} and ${HAS_LATER_DELIVERY} and ${hasCustomer()}`,
)

/**
 * Returns the statement that finds the archived months of some days in which the delivery `since` or a later one
 * may have written records: those of all customers if `ids` is null.
 */
export const archivedMonthsSince = (
  db: Connection,
  account: string,
  needed: readonly NeededDays[],
  ids: readonly string[] | null,
  since: string,
): D1PreparedStatement => {
  const values = { account, needs: needsOf(needed), since }
  return ids === null
    ? bindStatement(db, WRITTEN_SINCE, values)
    : bindStatement(db, WRITTEN_SINCE_OF_CUSTOMERS, { ...values, ids: JSON.stringify(ids) })
}

/**
 * Whether a customer `a` of an archived month was received after one of its objects had records of them, or
 * a delivery whose records are in it had some that waited.
 */
const MAY_HAVE_WAITED = `exists (select 1 from archive_objects o
        where o.account = m.account and o.resource = m.resource and o.first_day = m.first_day and (
          exists (select 1 from customers c
            where c.account = a.account and c.customer_id = a.customer_id and c.revision = 1
              and c.delivery > o.deliveries ->> 0)
          or exists (select 1 from deliveries d
            where d.account = m.account and d.id between o.deliveries ->> 0 and o.deliveries ->> 1
              and d.unknown_at is not null)))`

const RELEASED = compileStatement(`${ON_DAYS_SQL} and ${hasCustomer(MAY_HAVE_WAITED)}`)

/**
 * Returns the statement that finds the archived months of some days in which customers may have records that
 * waited for them.
 */
export const archivedMonthsReleased = (
  db: Connection,
  account: string,
  needed: readonly NeededDays[],
  ids: readonly string[],
): D1PreparedStatement =>
  bindStatement(db, RELEASED, { account, needs: needsOf(needed), ids: JSON.stringify(ids) })
