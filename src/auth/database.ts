/**
 * The database that keeps an account's records, by the binding its token names. A full one is
 * answered by adding a binding and naming it on new accounts; this is the only place that resolves it.
 */
export function databaseOf(env: Env, binding: string): D1Database {
  const database = (env as unknown as Record<string, D1Database | undefined>)[binding]
  if (!database) throw new Error(`No D1 binding has the name ${binding}.`)
  return database
}
