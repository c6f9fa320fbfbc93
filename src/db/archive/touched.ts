import type { RecordTable } from '../records/record-table.ts'
import { chunkNames, type SqlFragments, unionOfChunks } from '../records/sql-fragments.ts'
import { compileStatement, type Statement } from '../statement.ts'

/** The states of months whose records are not used from the database. */
export const AWAY = `('sealed', 'archived', 'restoring')`

/** Returns the condition that a day of a resource is archived; both are SQL. */
export const isArchivedSql = (resource: string, day: string) =>
  `exists (select 1 from archived_months m where m.account = :account and m.resource = ${resource}
      and m.state in ${AWAY} and ${day} between m.first_day and m.last_day)`

/**
 * Returns the condition that a customer has an archived deposit from a day on, with one of the statuses `:approved`, in
 * a month that begins before another day; all are SQL. Of each month, the last day of the customer's deposits is kept
 * by status.
 */
export const hasArchivedDepositSql = (customer: string, first: string, before: string) =>
  `exists (select 1 from archived_months m
      cross join archived_customers a on a.account = m.account and a.resource = m.resource
        and a.first_day = m.first_day and a.customer_id = ${customer}
      cross join json_each(a.deposits) s
      where m.account = :account and m.resource = 'transactions' and m.state in ${AWAY}
        and s.value >= ${first} and m.first_day < ${before}
        and s.key in (select value from json_each(:approved)))`

/** Returns the query for the archived days of a resource, as SQL, from `:first_day` to `:last_day`, as `day`. */
export const archivedDaysSql = (resource: string) => `
        select d.value ->> 0 as day from archived_months m
        cross join archive_objects o on o.account = m.account and o.resource = m.resource
          and o.first_day = m.first_day
        cross join json_each(o.days) d
        where m.account = :account and m.resource = ${resource} and m.state in ${AWAY}
          and d.value ->> 0 between :first_day and :last_day`

/** The column by which archived records are found; null if the key of a record has its day. */
const idOf = ({ key }: RecordTable): string | null => (key.length === 1 ? (key[0] ?? null) : null)

const MONTHS_OF_RESOURCE = `archived_months m where m.account = :account and m.resource = :resource
            and m.state in ${AWAY}`

const HAS_DAY = `exists (select 1 from json_each(:days) d where d.value between m.first_day and m.last_day)`

/**
 * Returns the query for the months whose archived records a delivery names. A record may have left a month while its
 * objects were written, or before its id was forgotten: then the database has it on a day of no such month.
 */
const archivedIds = (
  { table, dayColumn, indexes }: RecordTable,
  id: string,
  { fromLookup }: SqlFragments,
  sent: string,
) =>
  `select r.first_day from ${sent} cross join archived_records r
            where r.account = :account and r.resource = :resource and r.id = ${fromLookup(id)}
              and not exists (select 1 from ${table} t ${indexes.key ? `indexed by ${indexes.key}` : ''}
                where t.account = :account and t.${id} = r.id and not exists (select 1 from archived_months k
                  where k.account = :account and k.resource = :resource and k.first_day = r.first_day
                    and t.${dayColumn} between k.first_day and k.last_day))`

/**
 * Returns the condition that a record of a delivery is archived, or lies in a month that is. Accounts without
 * archived months look up one key. `sent` has the records of the delivery.
 */
export function touchesArchiveSql(table: RecordTable, fragments: SqlFragments): string {
  const id = idOf(table)
  const hasId =
    id === null
      ? ''
      : `
            or exists (select 1 from ${MONTHS_OF_RESOURCE}
              and m.first_day in (${archivedIds(table, id, fragments, 'sent')}))`
  return `iif(exists (select 1 from ${MONTHS_OF_RESOURCE}),
            exists (select 1 from ${MONTHS_OF_RESOURCE} and ${HAS_DAY})${hasId}, 0)`
}

/** A month that a delivery needs. */
export interface TouchedMonth {
  readonly first_day: number
  /** The object that is damaged or missing, so that the month could not be restored. */
  readonly fault: string | null
}

/** Returns the statement that has the months restored that a delivery needs, and returns them. */
export function wantMonthsStatement(
  table: RecordTable,
  fragments: SqlFragments,
  lookupChunks: number,
): Statement {
  const id = idOf(table)
  const sent = `(${unionOfChunks(chunkNames('lookup', lookupChunks))})`
  const hasId = id === null ? '' : ` or m.first_day in (${archivedIds(table, id, fragments, sent)})`
  return compileStatement(`
      update archived_months set wanted_at = coalesce(wanted_at, :received_at)
      where (account, resource, first_day) in (
        select m.account, m.resource, m.first_day from ${MONTHS_OF_RESOURCE} and (${HAS_DAY}${hasId}))
      returning first_day, fault`)
}
