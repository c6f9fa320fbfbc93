import { type FoundPage, listRows, type Page } from '../db/paginate.ts'
import { all, first } from '../db/query.ts'
import { withD1Retry } from '../db/retry.ts'
import type { AccountMove } from '../db/schema.ts'
import { bindStatement, compileStatement } from '../db/statement.ts'
import { columnNames } from '../db/table.ts'
import { accountMoves } from '../db/tables.ts'
import { NEXT_VERSION } from './accounts.ts'
import { newAuditId } from './audit.ts'

const COLUMNS = columnNames(accountMoves).join()

/** What is stored of a new move. */
export type NewMove = Pick<
  AccountMove,
  'id' | 'account' | 'source' | 'target' | 'actor' | 'started_at'
>

const INSERT_MOVE = compileStatement(`
  insert into account_moves (id, account, source, target, status, actor, started_at)
  values (:id, :account, :source, :target, 'copying', :actor, :started_at)`)

/** Inserts a move. The statement fails while the account has another one that has not ended. */
export const insertMove = (db: D1Database, move: NewMove) => bindStatement(db, INSERT_MOVE, move)

const FIND_MOVE = compileStatement(
  `select ${COLUMNS} from account_moves where account = :account and id = :id`,
)

/** Returns a move of an account; null if there is none. */
export const findMove = (
  db: D1Database,
  account: string,
  id: string,
): Promise<AccountMove | null> => first<AccountMove>(db, FIND_MOVE, { account, id })

const FIND_ACTIVE = compileStatement(`
  select ${COLUMNS} from account_moves where account = :account and ended_at is null`)

/** Returns the move of an account that has not ended; null if there is none. */
export const findActiveMove = (db: D1Database, account: string): Promise<AccountMove | null> =>
  first<AccountMove>(db, FIND_ACTIVE, { account })

const LIST_MOVING = compileStatement(
  'select account from account_moves where ended_at is null order by account limit 20',
)

/** Lists at most 20 accounts with a move that has not ended. */
export const listMoving = async (db: D1Database): Promise<string[]> =>
  (await all<{ account: string }>(db, LIST_MOVING)).map(({ account }) => account)

/** Reads one page of the moves of an account, the latest first. */
export const listMoves = (
  db: D1Database,
  account: string,
  page: Page,
): Promise<FoundPage<AccountMove>> =>
  listRows(db, { table: accountMoves, key: 'id', descending: true, account }, page)

/** What changes of a move; what is absent keeps its value. */
type MoveChange = Partial<Pick<AccountMove, 'status' | 'place' | 'reason' | 'ended_at'>>

/** Returns the statement that changes a move, unless it has another status than `move` has. */
export function changeMove(
  db: D1Database,
  { account, id, status: known }: Pick<AccountMove, 'account' | 'id' | 'status'>,
  change: MoveChange,
): D1PreparedStatement {
  const set = Object.keys(change).map((name) => `${name} = :${name}`)
  const statement = compileStatement(`
    update account_moves set ${set.join()}
    where account = :account and id = :id and status = :known and ended_at is null`)
  return bindStatement(db, statement, { ...change, account, id, known })
}

/** The move that was compared, unless it was cancelled meanwhile. */
const COPIED = `account_moves.account = :account and account_moves.id = :id and status = 'copying'`

const SWITCH_ACCOUNT = compileStatement(`
  update accounts set binding = :target, version = ${NEXT_VERSION}
  where id = :account and binding = :source and exists (select 1 from account_moves where ${COPIED})`)

const NOTE_SWITCH = compileStatement(`
  insert into audit_log (id, at, actor, action, account, details)
  select :audit, :switched_at, actor, 'account.move', account,
    json_object('move', id, 'source', source, 'target', target)
  from account_moves where ${COPIED}`)

const END_COPY = compileStatement(`
  update account_moves set status = 'switched', switched_at = :switched_at where ${COPIED}`)

/** Names the new database as that of the account, unless the move was cancelled. */
export async function switchAccount(
  db: D1Database,
  { id, account, source, target }: AccountMove,
): Promise<void> {
  const switched_at = new Date().toISOString()
  const values = { id, account, source, target, switched_at, audit: newAuditId() }
  const statements = [SWITCH_ACCOUNT, NOTE_SWITCH, END_COPY]
  await withD1Retry(() => db.batch(statements.map((one) => bindStatement(db, one, values))))
}
