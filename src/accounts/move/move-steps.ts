import { propagate } from '../../platform/auth/propagate.ts'
import { resolveDatabase } from '../../platform/db/database.ts'
import { TooManyQueries } from '../../platform/db/query-limit.ts'
import { d1Fault } from '../../platform/db/retry.ts'
import type { AccountMove } from '../../platform/db/schema.ts'
import { writeBatch } from '../../platform/db/statement.ts'
import {
  changeMove,
  findActiveMove,
  switchAccount,
} from '../../platform/directory/account-moves.ts'
import { findAccount } from '../../platform/directory/accounts.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { describeFault } from '../../platform/errors.ts'
import { compareCounts, copyStep } from './copy.ts'
import { closeDoor, openDoor, shutDoor, takeCopy } from './doors.ts'
import { dropStep } from './drop.ts'
import { type CopyRefusal, CopyRefused } from './place.ts'
import { commonTables } from './tables.ts'

/** The limits of moves of accounts. */
export const MOVE_LIMITS = {
  /** How long the old copy is kept: requests that began before the switch have ended by then, in milliseconds. */
  keptMs: 10 * MINUTE_MS,
}

/** A step: what the move is, and its databases. */
interface Step {
  readonly env: Env
  readonly move: AccountMove
  readonly source: D1Database
  readonly target: D1Database
}

/**
 * Makes the next step of the move of an account: what it is, the stored move says. A step that is repeated, or made
 * twice at once, goes on where the stored one has ended. Returns whether another step can follow at once.
 */
export async function advanceMove(env: Env, account: string): Promise<boolean> {
  const move = await findActiveMove(env.DB, account)
  if (!move) return false
  const [source, target] = [move.source, move.target].map((one) => resolveDatabase(env, one))
  if (!source || !target) throw new Error('A move has two databases.')
  const step = { env, move, source, target }
  if (move.status === 'switched') return switched(step)
  if (move.status === 'cancelling') return cancelling(step)
  return copying(step).catch((error) => {
    if (error instanceof TooManyQueries) throw error
    return fail(step, error)
  })
}

/** Copies the next rows behind the closed door of the account. Once all are copied, the account is switched. */
async function copying({ env, move, source, target }: Step): Promise<boolean> {
  if (move.place === null) {
    await takeCopy(target, move, await commonTables(source, target))
    await closeDoor(source, move)
  }
  const place = await copyStep(source, target, move, move.place && JSON.parse(move.place))
  if (place) {
    await writeBatch(env.DB, [changeMove(env.DB, move, { place: JSON.stringify(place) })])
  } else {
    await compareCounts(source, target, move.account)
    await switchAccount(env.DB, move)
  }
  return true
}

/** Opens the door in the new database, and sends it to live tokens; later deletes the old copy. */
async function switched({ env, move, source, target }: Step): Promise<boolean> {
  await openDoor(target, move)
  const account = await findAccount(env.DB, move.account)
  if (account && account.pushed < account.version) await propagate(env, move.account)
  // Last: if the old database does not answer, the account must not wait for it.
  await shutDoor(source, move)
  if (Date.now() < Date.parse(move.switched_at ?? '') + MOVE_LIMITS.keptMs) return false
  return (await dropStep(source, move)) ? end(env, move, 'done') : true
}

/** Opens the door of the account where it is, and deletes its copy in the other database. */
async function cancelling({ env, move, source, target }: Step): Promise<boolean> {
  await openDoor(source, move)
  await shutDoor(target, move)
  if (!(await dropStep(target, move))) return true
  return end(env, move, move.reason === null ? 'cancelled' : 'failed')
}

async function end(env: Env, move: AccountMove, status: AccountMove['status']): Promise<false> {
  const change = { status, ended_at: new Date().toISOString() }
  await writeBatch(env.DB, [changeMove(env.DB, move, change)])
  return false
}

/** Ends a move that cannot succeed: the account stays where it is. */
async function fail({ env, move }: Step, error: unknown): Promise<boolean> {
  const { id, account, actor } = move
  const { fault, at } = describeFault(error)
  const reason = error instanceof CopyRefused ? reasonOf(error, move.target) : `${FAILED} ${AGAIN}`
  console.error(JSON.stringify({ failed_move: id, account, reason, fault, at, d1: d1Fault(error) }))
  const entry = { actor, action: 'account.move.fail', account, details: { move: id, reason } }
  await withAudit(env.DB, entry, [changeMove(env.DB, move, { status: 'cancelling', reason })])
  return true
}

const FAILED = 'A step failed; the log of the Worker names the error.'

const AGAIN = 'The account stays where it was. Move it again.'

/** Returns why a move fails that a database has refused. */
function reasonOf({ refusal, table }: CopyRefused, name: string): string {
  const reasons: Record<CopyRefusal, string> = {
    busy: `A run, a reset or an erasure goes on. ${AGAIN}`,
    copy_differs: `The copy differs from the records: ${table?.replaceAll('_', ' ')}. ${AGAIN} If that fails, too, report it.`,
    tables_differ: `The tables of the two databases differ. Apply the migrations to both. ${AGAIN}`,
    moved_away:
      'The account has moved to another database before, and its old one refuses its writes. The directory was restored to a time before that: load its saved settings.',
    target_has_rows: `${name} has records of the account that are not of this move. If the directory was restored, the account may live there. Find out before you move it again. The account stays where it was.`,
  }
  return reasons[refusal]
}
