import { withD1Retry } from '../retry.ts'

/** So many rows go in one statement, and so many statements in one run: the next one goes on. */
const ROWS_PER_DELETE = 2000
const DELETES_PER_RUN = 200

/** The tables that forget, each by the column behind the account, and the rest of its key. */
const EXPIRING_TABLES = {
  deliveries: ['id'],
  clicks: ['day', 'link_id', 'click_id'],
  arrivals: ['hour', 'resource'],
} as const

/** From where on rows are kept, by table: smaller ones go. */
export type Oldest = Readonly<Record<keyof typeof EXPIRING_TABLES, string | number>>

/** Forgets what is too old, in bounded steps; says how many rows that were. */
export async function deleteExpired(db: D1Database, oldest: Oldest): Promise<number> {
  let forgotten = 0
  for (const table of Object.keys(EXPIRING_TABLES) as (keyof Oldest)[]) {
    for (let step = 0; step < DELETES_PER_RUN; step++) {
      const { meta } = await withD1Retry(() =>
        db.prepare(deleteSql(table)).bind(oldest[table]).run(),
      )
      forgotten += meta.changes
      if (meta.changes < ROWS_PER_DELETE) break
    }
  }
  return forgotten
}

/** Goes from account to account along the key, so that it reads what it forgets, and no more. */
function deleteSql(table: keyof Oldest): string {
  const key = ['account', ...EXPIRING_TABLES[table]]
  return `
    with recursive own(account) as (
      select min(account) from ${table}
      union all
      select (select min(account) from ${table} where account > own.account)
      from own where own.account is not null
    )
    delete from ${table} where (${key.join()}) in (
      select ${key.map((name) => `t.${name}`).join()}
      from own cross join ${table} t on t.account = own.account and t.${key[1]} < ?1
      limit ${ROWS_PER_DELETE}
    )`
}
