import { unavailable } from '../errors.ts'
import { throughDoor } from './door.ts'
import { withMethods } from './methods.ts'
import { isDatabaseFault } from './retry.ts'
import { read } from './statement.ts'

/** A D1 database, or a session of one. */
export type Connection = Pick<D1DatabaseSession, 'prepare' | 'batch'>

/**
 * Returns a database by its binding, for reads, and for statements over many accounts, which check their doors.
 *
 * @throws ApiError `unavailable` if this version of the Worker lacks the binding.
 */
export function resolveDatabase(env: Env, binding: string): D1Database {
  const database = (env as unknown as Record<string, D1Database | undefined>)[binding]
  // During a deployment an older version still runs, which does not know a new binding.
  if (!database) throw unavailable(new Error(`No D1 binding has the name ${binding}.`))
  return database
}

/**
 * Returns the database that holds the records of an account: whatever writes there checks the account's door first.
 *
 * @throws ApiError `unavailable` if this version of the Worker lacks the binding.
 */
export const accountDatabase = (
  env: Env,
  { id, binding }: { readonly id: string; readonly binding: string },
): D1Database => throughDoor(resolveDatabase(env, binding), id)

/**
 * Returns a session that sends the reads of one turn together: all parts of a page wait for one call. If a
 * statement fails, each is sent by itself, so that only its own caller sees the error.
 */
export function gathering(session: D1DatabaseSession): D1DatabaseSession {
  const waiting: D1PreparedStatement[][] = []
  let call: Promise<D1Result[][] | undefined> | null = null
  const send = async () => {
    await scheduler.wait(0)
    call = null
    const lists = waiting.splice(0)
    const found = await read(session, lists.flat()).catch((error): undefined => {
      if (lists.length === 1 || isDatabaseFault(error)) throw error
    })
    return found && lists.map((list) => found.splice(0, list.length))
  }
  return withMethods(session, {
    async read(list: D1PreparedStatement[]) {
      const place = waiting.push(list) - 1
      call ??= send()
      return (await call)?.[place] ?? read(session, list)
    },
  })
}

function isDatabase(env: Env, name: string): boolean {
  const binding: unknown = Reflect.get(env, name)
  if (typeof binding !== 'object' || binding === null) return false
  // A service binding answers to any method name, but only a database lacks `fetch`.
  return 'prepare' in binding && !('fetch' in binding)
}

/** Returns the names of the D1 bindings of this deployment. */
export const databaseBindings = (env: Env): string[] =>
  Object.keys(env).filter((name) => isDatabase(env, name))

/**
 * Returns the jurisdiction of a database, which the name of its binding has: `eu` of `DB_EU_1`. Null for the
 * others, such as `DB_2`.
 */
export function jurisdictionOf(binding: string): string | null {
  const [, name] = /^DB_([A-Z]+)_\d+$/.exec(binding) ?? []
  return name === undefined ? null : name.toLowerCase()
}
