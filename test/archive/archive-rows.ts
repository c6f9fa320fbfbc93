import { dayNumber } from '../../src/db/column-types.ts'

/** The month that `archiveRows` stores. */
export const ARCHIVED_MONTH = '2024-03'

/**
 * Returns the statements that store an archived month of a resource that the vertical of the account does not have: so
 * lists of archives have a row, and nothing needs its records.
 */
export const archiveRows = (
  db: D1Database,
  account: string,
  resource: 'transactions' | 'activities',
): D1PreparedStatement[] => {
  const [first, last] = ['01', '31'].map((day) => dayNumber(`${ARCHIVED_MONTH}-${day}`))
  return [
    db
      .prepare(
        `insert into archived_months (account, resource, first_day, last_day, state, begun_at, totals_at, erasures,
          prefix, records, archived_at)
         values (?, ?, ?, ?, 'archived', 1774000000000, 1774000000000, 0, ?, 2, 1774000000000)`,
      )
      .bind(account, resource, first, last, `archive/${account}/${resource}/${ARCHIVED_MONTH}/1`),
    db
      .prepare(
        `insert into archive_objects (account, resource, first_day, part, sha256, bytes, version, records, days,
          groups, deliveries, written_at)
         values (?, ?, ?, 1, ?, 1200, 1, 2, '[]', '[]', '["dlv_1","dlv_2"]', 1774000000000)`,
      )
      .bind(account, resource, first, 'a'.repeat(64)),
  ]
}
