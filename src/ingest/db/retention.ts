import { isDoorOpen } from '../../platform/db/door.ts'
import { withD1Retry } from '../../platform/db/retry.ts'

/** The rows that one DELETE removes. */
const ROWS_PER_DELETE = 2000

/** The tables whose rows expire: the column that tells their age, then the rest of the key. */
const EXPIRING_TABLES = {
  deliveries: ['id'],
  clicks: ['day', 'link_id', 'click_id'],
  arrivals: ['hour', 'resource'],
  late_changes: ['at', 'resource', 'customer_id', 'day', 'id'],
  webhook_messages: ['event', 'endpoint'],
  webhook_events: ['id'],
  outbox: ['id'],
} as const

type ExpiringTable = keyof typeof EXPIRING_TABLES

const TABLES = Object.keys(EXPIRING_TABLES) as ExpiringTable[]

/** The oldest value that is kept, by table; rows below it are deleted. */
export type Oldest = Readonly<Record<ExpiringTable, string | number>>

/** Deletes expired rows in steps. It can be ended between two of them: the next call goes on. */
export async function deleteExpired(db: D1Database, oldest: Oldest): Promise<void> {
  let left: readonly ExpiringTable[] = TABLES
  while (left.length > 0) {
    // The tables take turns, so that a large one does not keep the others waiting.
    const next: ExpiringTable[] = []
    for (const table of left) {
      const [done] = await withD1Retry(() =>
        db.batch([db.prepare(deleteExpiredSql(table)).bind(oldest[table])]),
      )
      if (done?.meta.changes === ROWS_PER_DELETE) next.push(table)
    }
    left = next
  }
}

/** Deletes account by account along the key, so that it reads no more rows than it deletes. */
export function deleteExpiredSql(table: ExpiringTable): string {
  const key = ['account', ...EXPIRING_TABLES[table]]
  return `
    with recursive accounts_of_table(account) as (
      select min(account) from ${table}
      union all
      select (select min(account) from ${table} where account > a.account)
      from accounts_of_table a where a.account is not null
    )
    delete from ${table} where (${key.join()}) in (
      select ${key.map((name) => `t.${name}`).join()}
      from accounts_of_table a cross join ${table} t on t.account = a.account and t.${key[1]} < ?1
      where ${isDoorOpen('a.account')}
      limit ${ROWS_PER_DELETE}
    )`
}
