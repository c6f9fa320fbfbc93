import { databaseBindings, resolveDatabase } from './database.ts'
import { withMethods } from './methods.ts'

/**
 * The most queries of one invocation by a cron or by a message of its queue. D1 allows 1000, and ends an
 * invocation that makes more in the middle of its work; a query that is repeated after a fault counts again.
 */
export const CRON_QUERIES = 500

/** The error of an invocation that would make more queries than it may. */
export class TooManyQueries extends Error {
  override readonly name = 'TooManyQueries'
}

/**
 * Returns an environment whose databases count the statements that are prepared. Each of them is executed
 * once. Beyond `limit` together, `prepare` calls `onExceeded` the first time and throws. `used` has their number.
 */
export function limitQueries(
  env: Env,
  limit: number,
  onExceeded: () => void,
  used: { queries: number } = { queries: 0 },
): Env {
  const count = () => {
    used.queries++
    if (used.queries <= limit) return
    if (used.queries === limit + 1) onExceeded()
    throw new TooManyQueries(`This invocation has made its ${limit} queries.`)
  }
  const counting = <Database extends Pick<D1Database, 'prepare' | 'batch'>>(db: Database) =>
    withMethods(db, {
      prepare(sql: string) {
        count()
        return db.prepare(sql)
      },
      withSession: (constraint?: string): D1DatabaseSession =>
        counting((db as unknown as D1Database).withSession(constraint)),
    })
  const databases = databaseBindings(env).map((name) => [
    name,
    counting(resolveDatabase(env, name)),
  ])
  return { ...env, ...Object.fromEntries(databases) }
}

/**
 * Runs work that loses nothing if it ends between two queries, with at most `limit` of them. Returns whether
 * the work ended by itself, and what it returned is not `false`: whether nothing is left to do.
 */
export async function runWithin(
  env: Env,
  limit: number,
  work: (limited: Env) => Promise<unknown>,
): Promise<boolean> {
  try {
    return (await work(limitQueries(env, limit, () => {}))) !== false
  } catch (error) {
    if (error instanceof TooManyQueries) return false
    throw error
  }
}
