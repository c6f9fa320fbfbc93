import { only } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'

/**
 * About how many bytes the records of `:account` take in its database, as SQL: what each added when it was created, less
 * the share of those that are archived.
 */
export const USAGE = `(
            select cast(coalesce(sum(t.bytes * (1 - ifnull((select sum(m.records) from archived_months m
              where m.account = t.account and m.resource = t.resource), 0) * 1.0 / max(t.total + t.held, 1))), 0)
              as integer)
            from totals t where t.account = :account)`

const READ = compileStatement(`select ${USAGE} as bytes`)

/** Returns about how many bytes the records of an account take in its database. */
export const readUsage = async (db: D1Database, account: string): Promise<number> =>
  (await only<{ bytes: number }>(db, READ, { account })).bytes
