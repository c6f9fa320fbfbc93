import type { FoundPage, Page } from '../db/paginate.ts'
import { all, first, listRows } from '../db/query.ts'
import { withD1Retry } from '../db/retry.ts'
import { type Account, type AccountMove, accountMoves } from '../db/schema.ts'
import { bindStatement, compileStatement } from '../db/statement.ts'
import { columnNames } from '../db/table.ts'
import { NEXT_VERSION } from './accounts.ts'
import { newAuditId } from './audit.ts'

/** How far a move is. */
export type MoveStatus = AccountMove['status']

/** Moves whose account still lives in the old database. Only these can be cancelled. */
export const BEFORE_SWITCH: readonly MoveStatus[] = ['waiting', 'copying', 'comparing']

const COLUMNS = columnNames(accountMoves).join()

/** What is stored of a new move. */
export type NewMove = Pick<
  AccountMove,
  'id' | 'account' | 'source' | 'target' | 'confirmed' | 'actor' | 'started_at' | 'due_at'
>

const INSERT_MOVE = compileStatement(`
  insert into account_moves (id, account, source, target, status, confirmed, actor, started_at, due_at)
  values (:id, :account, :source, :target, 'waiting', :confirmed, :actor, :started_at, :due_at)`)

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
  select ${COLUMNS} from account_moves where account = :account and due_at is not null`)

/** Returns the move of an account that has not ended; null if there is none. */
export const findActiveMove = (db: D1Database, account: string): Promise<AccountMove | null> =>
  first<AccountMove>(db, FIND_ACTIVE, { account })

/** Reads one page of the moves of an account, the latest first. */
export const listMoves = (
  db: D1Database,
  account: string,
  page: Page,
): Promise<FoundPage<AccountMove>> =>
  listRows(db, { table: accountMoves, key: 'id', descending: true, account }, page)

const LIST_COPIES = compileStatement(`
  select m.account, iif(m.source = a.binding, m.target, m.source) as binding
  from account_moves m indexed by account_moves_due cross join accounts a on a.id = m.account
  where m.due_at is not null`)

/** A copy of an account in a database in which it does not live: of a move that has not ended. */
export type AccountCopy = Pick<Account, 'binding'> & Pick<AccountMove, 'account'>

/** Lists the copies of accounts. */
export const listCopies = (db: D1Database): Promise<AccountCopy[]> =>
  all<AccountCopy>(db, LIST_COPIES)

/** Which Workflow goes on with a move. */
export interface MoveTurn {
  readonly account: string
  readonly id: string
  readonly attempt: number
}

const TAKE_STEP = compileStatement(`
  update account_moves set due_at = max(:due_at, iif(status = 'switched', due_at, 0))
  where account = :account and id = :id and attempt = :attempt and due_at is not null
  returning ${COLUMNS}`)

/**
 * Returns a move whose next step begins; null if it has ended or if another Workflow goes on with it. A cron goes
 * on from `due_at` (milliseconds) on if the step does not end.
 */
export const takeStep = (
  db: D1Database,
  turn: MoveTurn,
  due_at: number,
): Promise<AccountMove | null> => first<AccountMove>(db, TAKE_STEP, { ...turn, due_at })

/** What a step changes of its move; what is absent keeps its value. */
type MoveChange = Partial<
  Pick<
    AccountMove,
    'status' | 'waits_for' | 'place' | 'closed_at' | 'reason' | 'ended_at' | 'due_at'
  >
>

const CHANGED = [
  'status',
  'waits_for',
  'place',
  'closed_at',
  'reason',
  'ended_at',
  'due_at',
] as const

/** A move as a step has found it. */
type FoundMove = MoveTurn & Pick<AccountMove, 'status' | 'confirmed'>

/**
 * Returns the statement that stores what a step has done, unless another Workflow has taken the move over, or it
 * was cancelled or confirmed meanwhile.
 */
export function storedStep(
  db: D1Database,
  { account, id, attempt, status: known, confirmed }: FoundMove,
  change: MoveChange,
): D1PreparedStatement {
  const set = CHANGED.filter((name) => name in change).map((name) => `${name} = :${name}`)
  const statement = compileStatement(`
    update account_moves set ${set.join()}
    where account = :account and id = :id and attempt = :attempt and status = :known and confirmed = :confirmed
      and due_at is not null returning id`)
  return bindStatement(db, statement, { ...change, account, id, attempt, known, confirmed })
}

/** Stores what a step has done, under the same condition. Returns whether it is stored. */
export async function storeStep(...step: Parameters<typeof storedStep>): Promise<boolean> {
  const { results } = await withD1Retry(() => storedStep(...step).all())
  return results.length > 0
}

/** The move that this Workflow has compared, and that it switches now. */
const COMPARED = `account_moves.account = :account and account_moves.id = :id and attempt = :attempt`

const SWITCH_ACCOUNT = compileStatement(`
  update accounts set binding = :target, version = ${NEXT_VERSION}
  where id = :account and binding = :source
    and exists (select 1 from account_moves where ${COMPARED} and status = 'comparing')`)

const NOTE_SWITCH = compileStatement(`
  insert into audit_log (id, at, actor, action, account, details)
  select :audit, :switched_at, actor, 'account.move', account,
    json_object('move', id, 'source', source, 'target', target, 'pause_ms', :now - closed_at)
  from account_moves where ${COMPARED} and status = 'comparing'`)

const END_COPY = compileStatement(`
  update account_moves set status = 'switched', switched_at = :switched_at, due_at = :due_at
  where ${COMPARED} and status = 'comparing'`)

/**
 * Names the new database as that of the account, unless the move was cancelled or another Workflow has taken it over.
 * A cron goes on from `due_at` (milliseconds) on.
 */
export async function switchAccount(
  db: D1Database,
  { id, attempt, account, source, target }: AccountMove,
  times: { readonly now: number; readonly due_at: number },
): Promise<void> {
  const switched_at = new Date(times.now).toISOString()
  const values = {
    id,
    attempt,
    account,
    source,
    target,
    switched_at,
    audit: newAuditId(),
    ...times,
  }
  const statements = [SWITCH_ACCOUNT, NOTE_SWITCH, END_COPY]
  await withD1Retry(() => db.batch(statements.map((one) => bindStatement(db, one, values))))
}

const CANCEL = compileStatement(`
  update account_moves set status = 'cancelling', waits_for = null, place = null, due_at = :now
  where account = :account and id = :id and status in (select value from json_each(:statuses)) and due_at is not null`)

/** Returns the statement that cancels a move, unless the account has been switched. */
export const cancelMove = (
  db: D1Database,
  { account, id }: Pick<AccountMove, 'account' | 'id'>,
  now: number,
) => bindStatement(db, CANCEL, { account, id, now, statuses: JSON.stringify(BEFORE_SWITCH) })

const CONFIRM = compileStatement(`
  update account_moves set confirmed = 1, due_at = max(:now, cast(
      (unixepoch(switched_at) * 1000) as integer) + :least_ms)
  where account = :account and status = 'switched' and confirmed = 0 and due_at is not null`)

/**
 * Returns the statement that has the old copy of an account deleted, `least_ms` (milliseconds) after the switch
 * at the earliest.
 */
export const confirmMove = (db: D1Database, account: string, now: number, least_ms: number) =>
  bindStatement(db, CONFIRM, { account, now, least_ms })

const CLAIM_DUE = compileStatement(`
  update account_moves set attempt = attempt + 1, due_at = :until
  where (account, id) in (
    select account, id from account_moves where due_at <= :now order by due_at limit :most)
  returning id, account, attempt`)

/** A move that a new Workflow goes on with. */
export type DueMove = Pick<AccountMove, 'id' | 'account' | 'attempt'>

/** Takes moves that no Workflow goes on with; they are due again at `until` (milliseconds). */
export const claimDueMoves = (
  db: D1Database,
  times: { readonly now: number; readonly until: number; readonly most: number },
): Promise<DueMove[]> => all<DueMove>(db, CLAIM_DUE, times)
