import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/**
 * Has an account accept only deliveries whose days were computed in a zone, unless it has records with
 * a day of another one. A delivery of the previous zone is stored before this statement, which then
 * finds its records, or it is refused.
 */
const SET = compileStatement(`
  insert into delivery_conditions (account, book_zone)
  select :account, :book_zone
  where not exists (select 1 from customers where account = :account)
    and not exists (select 1 from transactions where account = :account)
  on conflict (account) do update set book_zone = :book_zone
  returning book_zone`)

const READ = compileStatement('select book_zone from delivery_conditions where account = :account')

/** Sets the zone that deliveries must have. Returns false if the account has customers or transactions. */
export const setBookZone = (db: D1Database, account: string, book_zone: string): Promise<boolean> =>
  withD1Retry(
    async () => (await bindStatement(db, SET, { account, book_zone }).first('book_zone')) !== null,
  )

/** Returns the zone that deliveries must have; null if it was never set. */
export const readBookZone = (db: D1Database, account: string): Promise<string | null> =>
  withD1Retry(() => bindStatement(db, READ, { account }).first<string>('book_zone'))
