import { dayNumber } from '../../src/platform/db/column-types.ts'

/** The month that `archiveRows` stores. */
export const ARCHIVED_MONTH = '2024-03'

/**
 * Returns the statements that store an archived month of a resource that the vertical of the account does not have: so
 * lists of archives have a row, and nothing needs its records.
 */
export const archiveRows = (
  db: D1Database,
  account: string,
  resource: 'trading-activity' | 'activities',
): D1PreparedStatement[] => {
  const [first, last] = ['01', '31'].map((day) => dayNumber(`${ARCHIVED_MONTH}-${day}`))
  return [
    db
      .prepare(
        `insert into archived_months (account, first_day, last_day, resource, state, begun_at, archived_at,
          records, days)
         values (?, ?, ?, ?, 'archived', 1774000000000, 1774000000000, 2, '[]')`,
      )
      .bind(account, first, last, resource),
    db
      .prepare(
        `insert into archive_objects (account, first_day, part, sha256, bytes, records, last_key)
         values (?, ?, 1, ?, 1200, 2, '[]')`,
      )
      .bind(account, first, 'a'.repeat(64)),
  ]
}
