import { unavailable } from '../errors.ts'

/**
 * The database that keeps an account's records, by the binding its token names. A full one is
 * answered by adding a binding and naming it on new accounts; this is the only place that resolves it.
 */
export function resolveDatabase(env: Env, binding: string): D1Database {
  const database = (env as unknown as Record<string, D1Database | undefined>)[binding]
  // A version before the binding still runs, or runs again: what it does not know is not lost.
  if (!database) throw unavailable(new Error(`No D1 binding has the name ${binding}.`))
  return database
}
