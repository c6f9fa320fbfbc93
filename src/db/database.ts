import { unavailable } from '../errors.ts'

/** A D1 database, or a session of one. */
export type Connection = Pick<D1DatabaseSession, 'prepare' | 'batch'>

/**
 * Returns the database that holds an account's records, by the binding that its token names. When a
 * database is full, new accounts get another binding.
 *
 * @throws ApiError `unavailable` if this version of the Worker lacks the binding.
 */
export function resolveDatabase(env: Env, binding: string): D1Database {
  const database = (env as unknown as Record<string, D1Database | undefined>)[binding]
  // During a deployment an older version still runs, which does not know a new binding.
  if (!database) throw unavailable(new Error(`No D1 binding has the name ${binding}.`))
  return database
}
