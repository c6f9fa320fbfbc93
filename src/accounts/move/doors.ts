import { first, only } from '../../platform/db/query.ts'
import { isAssertionFailure, withD1Retry } from '../../platform/db/retry.ts'
import { ABORT, abortAs } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, writeBatch } from '../../platform/db/statement.ts'
import { CopyRefused, type Mover } from './place.ts'
import { type MovedTable, quoted } from './tables.ts'

// How a move changes the doors of its account (see `door.ts`). The row keeps the last move that changed it, so a step
// that was late, and whose move has ended meanwhile, opens and closes nothing.

/** Whether work of the account goes on that must end before it moves. */
const IS_BUSY = `(
    exists (select 1 from statement_runs where account = :account and status = 'running')
    or exists (select 1 from resets where account = :account)
    or exists (select 1 from erasures indexed by erasures_pending
      where account = :account and next_day is not null))`

const FIND_BUSY = compileStatement(`select ${IS_BUSY} as busy`)

/** Returns whether work of an account goes on that must end before it moves. */
export const isBusy = async (db: D1Database, account: string): Promise<boolean> =>
  (await only<{ busy: 0 | 1 }>(db, FIND_BUSY, { account })).busy === 1

const IN_STATE = 'select 1 from doors where account = :account and move = :id and state ='

/** Fails unless the database is one that takes the copy of this move: what writes the copy begins with it. */
export const REQUIRE_COPY = compileStatement(
  `select iif(exists (${IN_STATE} 'copying'), 1, ${ABORT})`,
)

/** Why rows are not dropped. */
export const NOT_GONE = 'not gone'

/** Fails unless the account does not live in the database since this move: what drops rows begins with it. */
export const REQUIRE_GONE = compileStatement(
  `select iif(exists (${IN_STATE} 'gone'), 1, ${abortAs(NOT_GONE)})`,
)

const TAKE_COPY = compileStatement(`
  insert into doors (account, move, state) values (:account, :id, 'copying')
  on conflict (account) do update set move = excluded.move, state = excluded.state
    where move < excluded.move and state <> 'leaving'`)

/** Fails unless the database has no rows of the account, or those of this copy. */
const requireEmpty = (tables: readonly MovedTable[]) => {
  const found = tables
    // The directory has entries of every account.
    .filter(({ name }) => name !== 'audit_log')
    .map(({ name }) => `exists (select 1 from ${quoted(name)} where account = :account)`)
  return compileStatement(`
    select iif(exists (${IN_STATE} 'copying') or not (${found.join(' or ')}), 1, ${ABORT})`)
}

/**
 * Has the target take the copy of a move. Does nothing if it does already.
 *
 * @throws CopyRefused if it has rows of the account.
 */
export async function takeCopy(
  target: D1Database,
  mover: Mover,
  tables: readonly MovedTable[],
): Promise<void> {
  const statements = [requireEmpty(tables), TAKE_COPY, REQUIRE_COPY]
  await withD1Retry(() =>
    target.batch(statements.map((one) => bindStatement(target, one, { ...mover }))),
  ).catch((error) => {
    throw isAssertionFailure(error) ? new CopyRefused('target_has_rows') : error
  })
}

const CLOSE = compileStatement(`
  insert into doors (account, move, state) select :account, :id, 'leaving' where not ${IS_BUSY}
  on conflict (account) do update set move = excluded.move, state = excluded.state
    where move < excluded.move and state = 'open'`)

const IS_LEAVING = compileStatement(`${IN_STATE} 'leaving'`)

/**
 * Closes the door of an account in its database. Does nothing if the move has closed it.
 *
 * @throws CopyRefused if work of the account goes on, or it has moved away before.
 */
export async function closeDoor(source: D1Database, mover: Mover): Promise<void> {
  await writeBatch(source, [bindStatement(source, CLOSE, { ...mover })])
  if (await first(source, IS_LEAVING, { ...mover })) return
  throw new CopyRefused((await isBusy(source, mover.account)) ? 'busy' : 'moved_away')
}

const OPEN = compileStatement(`
  insert into doors (account, move, state) values (:account, :id, 'open')
  on conflict (account) do update set move = excluded.move, state = excluded.state
    where (move = excluded.move and state <> 'gone') or (move < excluded.move and state = 'open')`)

/** Opens the door of an account, unless the account does not live there. The move cannot close it again. */
export const openDoor = (db: D1Database, mover: Mover): Promise<unknown> =>
  writeBatch(db, [bindStatement(db, OPEN, { ...mover })])

const SHUT = compileStatement(`
  update doors set state = 'gone' where account = :account and move = :id and state <> 'open'`)

/** Notes that the account does not live there: until a later move its door stays closed, and its rows may be dropped. */
export const shutDoor = (db: D1Database, mover: Mover): Promise<unknown> =>
  writeBatch(db, [bindStatement(db, SHUT, { ...mover })])
