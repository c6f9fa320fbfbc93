import { only } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'

/** About how many bytes the records of `:account` take in its database, as SQL: what each added when it was created. */
export const USAGE = `(select ifnull(sum(bytes), 0) from totals where account = :account)`

const READ = compileStatement(`select ${USAGE} as bytes`)

/** Returns about how many bytes the records of an account take in its database. */
export const readUsage = async (db: D1Database, account: string): Promise<number> =>
  (await only<{ bytes: number }>(db, READ, { account })).bytes
