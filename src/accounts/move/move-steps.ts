import { propagate } from '../../platform/auth/propagate.ts'
import { resolveDatabase } from '../../platform/db/database.ts'
import { d1Fault, withD1Retry } from '../../platform/db/retry.ts'
import type { AccountMove } from '../../platform/db/schema.ts'
import {
  BEFORE_SWITCH,
  claimDueMoves,
  type DueMove,
  findMove,
  type MoveStatus,
  storedStep,
  storeStep,
  switchAccount,
  takeStep,
} from '../../platform/directory/account-moves.ts'
import { findAccount } from '../../platform/directory/accounts.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import { describeFault } from '../../platform/errors.ts'
import { compareCounts, copyStep } from './copy.ts'
import { closeDoor, openDoor, shutDoor, takeCopy } from './doors.ts'
import { dropStep, filledTables } from './drop.ts'
import { MOVE_LIMITS, MOVE_RETRIES } from './move-limits.ts'
import { type CopyPlace, type CopyRefusal, CopyRefused } from './place.ts'
import { commonTables } from './tables.ts'

/** A move, as its Workflow knows it. */
export interface MoveParameters {
  readonly account: string
  readonly move: string
  readonly attempt: number
}

/** The seconds until the next step; null if none follows in this Workflow. */
type Next = number | null

/** A step: what the move is, and its databases. */
interface Step {
  readonly env: Env
  readonly move: AccountMove
  readonly source: D1Database
  readonly target: D1Database
}

/** Returns when the old copy of an account that was switched is deleted, in milliseconds. */
export function dropAt({ switched_at, confirmed }: AccountMove): number | null {
  if (switched_at === null) return null
  return Date.parse(switched_at) + (confirmed === 1 ? MOVE_LIMITS.leastMs : MOVE_LIMITS.keptMs)
}

/** Logs why an attempt of a step has failed: the platform keeps only the failure of the last one. */
export function logAttempt({ move }: MoveParameters, error: unknown): void {
  const { fault, at } = describeFault(error)
  console.error(JSON.stringify({ fault, at, d1: d1Fault(error), move }))
}

/**
 * Makes the next step of a move: what it is, the stored move says. A step that is repeated goes on where the
 * stored one has ended. Returns the seconds until the next step; null if none follows in this Workflow.
 */
export async function advanceMove(
  env: Env,
  { account, move: id, attempt }: MoveParameters,
): Promise<Next> {
  const move = await takeStep(env.DB, { account, id, attempt }, Date.now() + MOVE_LIMITS.quietMs)
  if (!move) return null
  const step = stepOf(env, move)
  try {
    return await STEPS[move.status](step)
  } catch (error) {
    // Another attempt would be refused, too.
    if (!(error instanceof CopyRefused) || !BEFORE_SWITCH.includes(move.status)) throw error
    return fail(step, await reasonOf(step, error))
  }
}

const stepOf = (env: Env, move: AccountMove): Step => {
  const [source, target] = [move.source, move.target].map((one) => resolveDatabase(env, one))
  if (!source || !target) throw new Error('A move has two databases.')
  return { env, move, source, target }
}

/** Starts the Workflow of a move. In contrast to `create`, this does not fail if it exists. */
export const startMove = (env: Env, { account, id, attempt }: DueMove): Promise<unknown> =>
  env.ACCOUNT_MOVES.createBatch([
    { id: `${id}-${attempt}`, params: { account, move: id, attempt } },
  ])

/** Goes on with moves whose Workflow has stopped, and with those of which the old copy is due. */
export async function resumeMoves(env: Env, now: number): Promise<void> {
  const { quietMs, moves: most } = MOVE_LIMITS
  for (const move of await claimDueMoves(env.DB, { now, until: now + quietMs, most })) {
    console.warn(JSON.stringify({ resumed_move: move.id, account: move.account }))
    await startMove(env, move)
  }
}

const ended = async (): Promise<Next> => null

const STEPS: Record<MoveStatus, (step: Step) => Promise<Next>> = {
  waiting,
  copying,
  comparing,
  switched,
  dropping,
  cancelling,
  done: ended,
  cancelled: ended,
  failed: ended,
}

/** Stores what a step has done. The next step follows at once, and finds whether another one has changed more. */
async function goOn(
  { env, move }: Step,
  change: Parameters<typeof storeStep>[2],
  seconds = 0,
): Promise<Next> {
  await storeStep(env.DB, move, change)
  return seconds
}

/** Returns where a move goes on with copying or comparing; null at the begin of both. */
export const placeOf = ({ place }: AccountMove): CopyPlace | null =>
  place === null ? null : JSON.parse(place)

/** Closes the door of the account once none of its work goes on. */
async function waiting(step: Step): Promise<Next> {
  const { move, source, target } = step
  await takeCopy(target, move, await commonTables(source, target))
  const waits_for = await closeDoor(source, move)
  if (waits_for !== null) return goOn(step, { waits_for }, MOVE_LIMITS.waitSeconds)
  return goOn(step, { status: 'copying', waits_for: null, closed_at: Date.now() })
}

async function copying(step: Step): Promise<Next> {
  const { move, source, target } = step
  const place = await copyStep(source, target, move, placeOf(move))
  return goOn(step, {
    ...(place === null && { status: 'comparing' }),
    place: place && JSON.stringify(place),
  })
}

async function comparing({ env, move, source, target }: Step): Promise<Next> {
  await compareCounts(source, target, move.account)
  const now = Date.now()
  await switchAccount(env.DB, move, { now, due_at: now + MOVE_LIMITS.quietMs })
  return 0
}

/** Opens the door in the new database, and sends it to live tokens; then keeps the old copy, until it is due. */
async function switched(step: Step): Promise<Next> {
  const { env, move, source, target } = step
  await openDoor(target, move)
  const account = await findAccount(env.DB, move.account)
  if (account && account.pushed < account.version) await propagate(env, move.account)
  // Last: if the old database does not answer, the account must not wait for it.
  await shutDoor(source, move)
  const due_at = dropAt(move) ?? 0
  if (Date.now() >= due_at) return goOn(step, { status: 'dropping' })
  return (await storeStep(env.DB, move, { due_at })) ? null : 0
}

async function dropping(step: Step): Promise<Next> {
  if (!(await dropStep(step.source, step.move))) return 0
  return end(step, 'done', 'account.move.drop')
}

/** Opens the door of the account where it is, and deletes its copy in the other database. */
async function cancelling(step: Step): Promise<Next> {
  const { move, source, target } = step
  await openDoor(source, move)
  await shutDoor(target, move)
  if (!(await dropStep(target, move))) return 0
  return end(step, move.reason === null ? 'cancelled' : 'failed', 'account.move.fail')
}

/** Ends a move. The audit log names it, unless a person has cancelled it, which the log has already. */
async function end(
  { env, move }: Step,
  status: 'done' | 'cancelled' | 'failed',
  action: string,
): Promise<null> {
  const { id, account, source, target, reason, actor } = move
  const change = {
    ...{ status, ended_at: new Date().toISOString(), due_at: null },
    ...{ place: null, waits_for: null },
  }
  const stored = storedStep(env.DB, move, change)
  const details = { move: id, source, target, ...(reason !== null && { reason }) }
  await (status === 'cancelled'
    ? withD1Retry(() => stored.run())
    : withAudit(env.DB, { actor, action, account, details }, [stored]))
  return null
}

/** Ends a move that cannot succeed: the account stays where it is. */
async function fail(step: Step, reason: string): Promise<Next> {
  const { id, account } = step.move
  const next = await goOn(step, { status: 'cancelling', reason, place: null, waits_for: null })
  console.error(JSON.stringify({ failed_move: id, account, reason }))
  return next
}

const AGAIN = 'The account stays where it was. Move it again.'

const REFUSALS: Readonly<Record<Exclude<CopyRefusal, 'target_has_rows' | 'copy_differs'>, string>> =
  {
    tables_differ: `The tables of the two databases differ. Apply the migrations to both. ${AGAIN}`,
    moved_away:
      'The account has moved to another database before, and its old one refuses its writes. The directory was restored to a time before that: load its saved settings.',
  }

/** Returns why a move fails that a database has refused. */
async function reasonOf({ move, target }: Step, { refusal, table }: CopyRefused): Promise<string> {
  if (refusal === 'copy_differs') {
    return `The copy differs from the records: ${table?.replaceAll('_', ' ')}. ${AGAIN} If that fails, too, report it.`
  }
  if (refusal !== 'target_has_rows') return REFUSALS[refusal]
  const tables = await filledTables(target, move.account)
  return `${move.target} has records of the account that are not of this move, in ${tables.join(', ')}. If the directory was restored, the account may live there. Find out before you move it again. The account stays where it was.`
}

const FAILED = `A step failed ${MOVE_RETRIES.retries.limit + 1} times in about a minute; the log of the Worker names the errors. ${AGAIN}`

/**
 * Ends a move of which a step failed in every attempt, if the account was not switched yet. Returns whether the
 * Workflow goes on, to delete the copy.
 */
export async function failMove(
  env: Env,
  { account, move: id, attempt }: MoveParameters,
): Promise<boolean> {
  const move = await findMove(env.DB, account, id)
  if (!move || move.attempt !== attempt || !BEFORE_SWITCH.includes(move.status)) return false
  await fail(stepOf(env, move), FAILED)
  return true
}
