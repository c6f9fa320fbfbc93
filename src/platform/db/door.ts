import { MOVING } from './retry.ts'

// The door of an account is its row in `doors`, in the database of its records. While it is not open, nothing of the
// account is written there: a batch that writes checks it first, and fails as a whole. An account without a row has an
// open door. Moves close and open doors: see `move/doors.ts`.

/**
 * Returns the condition, as SQL, that the door of an account is open in this database. Statements that write rows of
 * many accounts have it.
 */
export const isDoorOpen = (account: string) =>
  `${account} not in (select account from doors where state <> 'open')`

/** Fails if the door of an account is not open: `retry.ts` answers with 503. */
const CHECK_DOOR = `
  select json_extract('{}', '${MOVING} ' || move) from doors
  where account in (select value from json_each(?1)) and state <> 'open'`

/** A statement that writes: its verb is the first word, or follows a WITH clause. */
const WRITES = /(?:^|\))\s*(?:insert|update|delete|replace)\s/i

/** The statements that write, without the check. */
const unchecked = new WeakMap<D1PreparedStatement, D1PreparedStatement>()

/** Returns the database, or a session of it, for some accounts: each batch that writes checks their doors first. */
export function throughDoor<Database extends Pick<D1Database, 'prepare' | 'batch'>>(
  db: Database,
  ...accounts: readonly string[]
): Database {
  const batch = async (list: D1PreparedStatement[]) => {
    if (!list.some((one) => unchecked.has(one))) return db.batch(list)
    const check = db.prepare(CHECK_DOOR).bind(JSON.stringify(accounts))
    return (await db.batch([check, ...list.map((one) => unchecked.get(one) ?? one)])).slice(1)
  }
  const checked = (statement: D1PreparedStatement): D1PreparedStatement => {
    const run = async () => (await batch([own]))[0] as D1Result
    const own = {
      bind: (...values: unknown[]) => checked(statement.bind(...values)),
      run,
      all: run,
      first: async (column?: string) => {
        const row = ((await run()).results[0] ?? null) as Record<string, unknown> | null
        return column === undefined ? row : (row?.[column] ?? null)
      },
    } as unknown as D1PreparedStatement
    unchecked.set(own, statement)
    return own
  }
  const own: Partial<Record<keyof D1Database, unknown>> = {
    batch,
    prepare: (sql: string) => (WRITES.test(sql) ? checked(db.prepare(sql)) : db.prepare(sql)),
    withSession: (constraint?: string) =>
      throughDoor((db as unknown as D1Database).withSession(constraint), ...accounts),
  }
  return new Proxy(db, {
    get(_, name) {
      const value = own[name as keyof D1Database] ?? Reflect.get(db, name, db)
      return typeof value === 'function' ? value.bind(db) : value
    },
  })
}
