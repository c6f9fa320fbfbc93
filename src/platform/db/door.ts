import { withMethods } from './methods.ts'
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

/**
 * Returns the database, or a session of it, for some accounts: each batch checks their doors first, but for those that
 * `readBatch` sends. Statements that write are sent in batches alone.
 */
export function throughDoor<Database extends Pick<D1Database, 'prepare' | 'batch'>>(
  db: Database,
  ...accounts: readonly string[]
): Database {
  return withMethods(db, {
    read: (list: D1PreparedStatement[]) => db.batch(list),
    async batch(list: D1PreparedStatement[]) {
      const check = db.prepare(CHECK_DOOR).bind(JSON.stringify(accounts))
      return (await db.batch([check, ...list])).slice(1)
    },
    withSession: (constraint?: string) =>
      throughDoor((db as unknown as D1Database).withSession(constraint), ...accounts),
  })
}
