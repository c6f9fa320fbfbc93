import { resolveDatabase } from '../db/database.ts'
import {
  BEFORE_SWITCH,
  beginPause,
  claimDueMoves,
  type DueMove,
  findMove,
  type MoveStatus,
  storedStep,
  storeStep,
  switchAccount,
  takeStep,
} from '../db/directory/account-moves.ts'
import { findAccount } from '../db/directory/accounts.ts'
import { newAuditId, withAudit } from '../db/directory/audit.ts'
import { compareStep, finalCheck } from '../db/move/compare.ts'
import { copyStep } from '../db/move/copy.ts'
import { dropStep, filledTables } from '../db/move/drop.ts'
import {
  closeWrites,
  endCopying,
  endFollowing,
  followStep,
  keepClosed,
  openWrites,
  startFollowing,
} from '../db/move/follow.ts'
import { type CopyPlace, type CopyRefusal, CopyRefused } from '../db/move/place.ts'
import { countRecords, findWork } from '../db/records/moving.ts'
import { d1Fault, isDatabaseFull, withD1Retry } from '../db/retry.ts'
import type { AccountMove } from '../db/schema.ts'
import { describeFault } from '../errors.ts'
import { MOVE_LIMITS, MOVE_RETRIES } from './move-limits.ts'
import { propagate } from './propagate.ts'

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
    return fail(step, await reasonOf(step, error.refusal))
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
  const { quietPauseMs, moves: most } = MOVE_LIMITS
  for (const move of await claimDueMoves(env.DB, { now, until: now + quietPauseMs, most })) {
    console.warn(JSON.stringify({ resumed_move: move.id, account: move.account }))
    await startMove(env, move)
  }
}

const ended = async (): Promise<Next> => null

const STEPS: Record<MoveStatus, (step: Step) => Promise<Next>> = {
  copying,
  comparing,
  waiting,
  switching,
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

/** Where a move goes on, and about how many records the account has. */
type MovePlace = CopyPlace & { readonly total: number }

/** Returns where a move goes on with copying or comparing; null at the begin of both. */
export const placeOf = ({ place }: AccountMove): MovePlace | null =>
  place === null ? null : JSON.parse(place)

/** Returns the place that is stored after a step. */
async function textOf({ move, source }: Step, place: CopyPlace | null): Promise<string | null> {
  if (place === null) return null
  const total = placeOf(move)?.total ?? (await countRecords(source, move.account))
  return JSON.stringify({ ...place, total } satisfies MovePlace)
}

async function copying(step: Step): Promise<Next> {
  const { move, source, target } = step
  if (move.place === null) await startFollowing(source, target, move.account)
  const place = await copyStep(source, target, move.account, placeOf(move))
  return goOn(step, {
    ...(place === null && { status: 'comparing' }),
    place: await textOf(step, place),
  })
}

/** Copies what has changed meanwhile. Returns whether little is left. */
const hasCaughtUp = async ({ move, source, target }: Step) =>
  (await followStep(source, target, move.account)) <= MOVE_LIMITS.changes

async function comparing(step: Step): Promise<Next> {
  const { move, source, target } = step
  if (!(await hasCaughtUp(step))) return 0
  const { differences, next } = await compareStep(source, target, move.account, placeOf(move))
  if (differences.length > 0) return fail(step, differs(differences.map(({ table }) => table)))
  return goOn(step, {
    ...(next === null && { status: 'waiting' }),
    place: await textOf(step, next),
  })
}

async function waiting(step: Step): Promise<Next> {
  const { move, source } = step
  const isCaughtUp = await hasCaughtUp(step)
  const waits_for = await findWork(source, move.account)
  if (waits_for !== null) return goOn(step, { waits_for }, MOVE_LIMITS.waitSeconds)
  if (!isCaughtUp) return 0
  return goOn(step, { status: 'switching', waits_for: null })
}

/** A pause: since when the account's writes are refused, and for how long they were before, in milliseconds. */
interface Pause {
  readonly closed_at: number
  readonly before: number
}

/** Refuses the account's writes, copies and compares the rest, and switches. */
async function switching(step: Step): Promise<Next> {
  const { env, move, source, target } = step
  const closed_at = Date.now()
  const due_at = closed_at + MOVE_LIMITS.quietPauseMs
  const before = await beginPause(env.DB, move, { closed_at, due_at })
  if (before === null) return 0
  const pause = { closed_at, before }
  try {
    await closeWrites(source, move.account, closed_at)
    const waits_for = await findWork(source, move.account)
    if (waits_for !== null) return await reopen(step, pause, waits_for, MOVE_LIMITS.waitSeconds)
    const isLate = () => Date.now() > closed_at + MOVE_LIMITS.pauseMs
    while ((await followStep(source, target, move.account)) > 0) {
      if (isLate()) return await reopen(step, pause, 'writes', MOVE_LIMITS.retrySeconds)
    }
    const differences = await finalCheck(source, target, move.account)
    if (differences.length > 0) {
      await endPause(step, pause)
      return await fail(step, differs(differences))
    }
    if (isLate()) return await reopen(step, pause, 'writes', MOVE_LIMITS.retrySeconds)
  } catch (error) {
    await endPause(step, pause)
    throw error
  }
  const now = Date.now()
  const isSwitched = await switchAccount(env.DB, {
    ...{ move, closed_at, pause_ms: before + now - closed_at },
    ...{ switched_at: new Date(now).toISOString() },
    ...{ due_at: now + MOVE_LIMITS.quietPauseMs, audit: newAuditId() },
  }).catch(async (error) => {
    // After any other failure the account may be switched: a full directory has stored nothing.
    if (isDatabaseFull(error)) await endPause(step, pause)
    throw error
  })
  // It was cancelled, or another Workflow has taken it over.
  if (!isSwitched) await openWrites(source, move.account, closed_at)
  return 0
}

/** Accepts the account's writes again. The next attempt of the step, or the next step, begins another pause. */
async function endPause(
  { env, move, source }: Step,
  { closed_at, before }: Pause,
  change: Pick<Parameters<typeof storeStep>[2], 'status' | 'waits_for'> = {},
): Promise<void> {
  const pause_ms = before + Date.now() - closed_at
  // First: a switch that is still on its way must find that the pause is over.
  await storeStep(env.DB, move, { pause_ms, closed_at: null })
  await openWrites(source, move.account, closed_at)
  // Last: if the Worker is stopped before, the move is still `switching`, and begins and ends another pause.
  await storeStep(env.DB, move, { ...change, due_at: Date.now() + MOVE_LIMITS.quietMs })
}

/** Accepts the account's writes again. The move tries later. */
async function reopen(
  step: Step,
  pause: Pause,
  waits_for: AccountMove['waits_for'],
  seconds: number,
): Promise<Next> {
  await endPause(step, pause, { status: 'waiting', waits_for })
  return seconds
}

/** Sends the new database to live tokens; then keeps the old copy, until it is due. */
async function switched(step: Step): Promise<Next> {
  const { env, move, source, target } = step
  await endCopying(target, move.account)
  const account = await findAccount(env.DB, move.account)
  if (account && account.pushed < account.version) await propagate(env, move.account)
  // Last: if the old database does not answer, the account must not wait for it.
  await unlessRefused(() => keepClosed(source, move.account))
  const due_at = dropAt(move) ?? 0
  if (Date.now() >= due_at) return goOn(step, { status: 'dropping' })
  return (await storeStep(env.DB, move, { due_at })) ? null : 0
}

async function dropping(step: Step): Promise<Next> {
  const { move, source } = step
  // A repeated step may have ended the refusal of writes already.
  if (!(await unlessRefused(() => dropStep(source, move.account)))) return 0
  await endFollowing(source, move.account)
  return end(step, 'done', 'account.move.drop')
}

/** Leaves the account where it is, and deletes its copy in the other database. */
async function cancelling(step: Step): Promise<Next> {
  const { move, source, target } = step
  // A move that was refused, or a step that is repeated, has nothing to open and no copy.
  if (await openWrites(source, move.account, null)) await endFollowing(source, move.account)
  if (!(await unlessRefused(() => dropStep(target, move.account)))) return 0
  return end(step, move.reason === null ? 'cancelled' : 'failed', 'account.move.fail')
}

/** Returns the result of a task; true if the database refuses it because nothing is left to do. */
async function unlessRefused<T>(task: () => Promise<T>): Promise<T | true> {
  try {
    return await task()
  } catch (error) {
    if (error instanceof CopyRefused) return true
    throw error
  }
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
    ...{ place: null, waits_for: null, closed_at: null },
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

const differs = (names: readonly string[]): string =>
  `The copy differs from the records: ${[...new Set(names)].join(', ').replaceAll('_', ' ')}. ${AGAIN} If that fails, too, report it.`

const REFUSALS: Readonly<Record<Exclude<CopyRefusal, 'target_has_rows'>, string>> = {
  tables_differ: `The tables of the two databases differ. Apply the migrations to both. ${AGAIN}`,
  not_a_copy: `The copy could not be told from the records. ${AGAIN}`,
  not_following: `The changes of the account were not noted. ${AGAIN}`,
  moved_away:
    'The account has moved to another database before, and its old one refuses its writes. The directory was restored to a time before that: load its saved settings.',
}

/** Returns why a move fails that a database has refused. */
async function reasonOf({ move, target }: Step, refusal: CopyRefusal): Promise<string> {
  if (refusal !== 'target_has_rows') return REFUSALS[refusal]
  const tables = await filledTables(target, move.account)
  return `${move.target} has records of the account that are not of this move, in ${tables.join(', ')}. If the directory was restored, the account may live there. Find out before you move it again. The account stays where it was.`
}

const FAILED = `A step failed ${MOVE_RETRIES.retries.limit + 1} times in about 25 minutes; the log of the Worker names the errors. ${AGAIN}`

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
