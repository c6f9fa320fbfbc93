import { first } from '../db/query.ts'
import { bindStatement, compileStatement } from '../db/statement.ts'

/** The image of an account's logo; `data` is Base64. */
export interface StoredLogo {
  readonly type: 'image/svg+xml' | 'image/png'
  readonly data: string
}

const FIND_LOGO = compileStatement(`
  select type, data from account_logos where account = :account`)

/** Returns the logo of an account; null if it has none. */
export const findLogo = (db: D1Database, account: string): Promise<StoredLogo | null> =>
  first<StoredLogo>(db, FIND_LOGO, { account })

const PUT_LOGO = compileStatement(`
  insert into account_logos (account, type, data) values (:account, :type, :data)
  on conflict (account) do update set type = excluded.type, data = excluded.data`)

const DELETE_LOGO = compileStatement('delete from account_logos where account = :account')

/** Stores the logo of an account, or deletes it if it is null. */
export const putLogo = (db: D1Database, account: string, logo: StoredLogo | null) =>
  logo === null
    ? bindStatement(db, DELETE_LOGO, { account })
    : bindStatement(db, PUT_LOGO, { account, type: logo.type, data: logo.data })
