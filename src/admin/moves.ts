import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { databaseBindings, jurisdictionOf, resolveDatabase } from '../db/database.ts'
import {
  BEFORE_SWITCH,
  cancelMove,
  confirmMove,
  findActiveMove,
  findMove,
  insertMove,
  listMoves,
} from '../db/directory/account-moves.ts'
import { newAuditId, withAudit } from '../db/directory/audit.ts'
import { describePair } from '../db/move/pair.ts'
import { CopyRefused } from '../db/move/place.ts'
import { findWork } from '../db/records/moving.ts'
import { readUsages } from '../db/records/storage.ts'
import { PLANNED_BYTES } from '../db/records/storage-limits.ts'
import { isUniqueViolation, withD1Retry } from '../db/retry.ts'
import type { Account, AccountMove } from '../db/schema.ts'
import { ulid } from '../db/ulid.ts'
import { ApiError, errorName } from '../errors.ts'
import { readQuery } from '../http/query.ts'
import { notFound, readFields, validationFailed } from '../http/read-fields.ts'
import { findRouteAccount } from './accounts.ts'
import { respondWithList } from './list-route.ts'
import { newMove } from './move-fields.ts'
import { MOVE_LIMITS } from './move-limits.ts'
import { dropAt, placeOf, startMove } from './move-steps.ts'

/** Returns a move as the administration API shows it. */
export const presentMove = (move: AccountMove) => {
  const due = move.status === 'switched' ? dropAt(move) : null
  const place = placeOf(move)
  return {
    move: move.id,
    account: move.account,
    from: move.source,
    to: move.target,
    status: move.status,
    records_done: place?.records ?? null,
    records_about: place?.total ?? null,
    waits_for: move.waits_for,
    pause_ms: move.pause_ms,
    reason: move.reason,
    started_by: move.actor,
    started_at: move.started_at,
    switched_at: move.switched_at,
    drop_at: due === null ? null : new Date(due).toISOString(),
    ended_at: move.ended_at,
  }
}

/** Routes for moves of an account to another database. */
export const moves = new Hono<AppEnv>()
  .post('/', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const { to, confirm = false } = await readFields(c, newMove)
    const active = await findActiveMove(c.env.DB, account.id)
    if (active) {
      // The request is repeated.
      if (active.target === to && active.switched_at === null)
        return c.json(presentMove(active), 202)
      throw alreadyMoving(active)
    }
    await admitTarget(c.env, account, to)
    await refuseDuringWork(c.env, account)
    return c.json(presentMove(await beginMove(c, account, { to, confirm })), 202)
  })

  .get('/', (c) =>
    respondWithList(c, 'moves', async ({ id }, page) => {
      const list = await listMoves(c.env.DB, id, page)
      return { ...list, data: list.data.map(presentMove) }
    }),
  )

  .get('/:move_id', async (c) => {
    readQuery(c.req.url)
    return c.json(presentMove(await findRouteMove(c)))
  })

  .post('/:move_id/cancel', async (c) => {
    const move = await readCommand(c)
    if (BEFORE_SWITCH.includes(move.status)) {
      const details = { move: move.id, source: move.source, target: move.target }
      await withAudit(c.env.DB, entryOf(c, 'account.move.cancel', move.account, details), [
        cancelMove(c.env.DB, move, Date.now()),
      ])
    }
    const found = await findRouteMove(c)
    if (found.status === 'cancelling' || found.status === 'cancelled') {
      return c.json(presentMove(found), 202)
    }
    throw new ApiError('conflict', {
      detail:
        found.reason === null
          ? `The account is already in ${found.target}. To move it back, confirm this move first, and start another one.`
          : 'The move has failed. The account stays where it was.',
    })
  })

  .post('/:move_id/confirm', async (c) => {
    const move = await readCommand(c)
    if (BEFORE_SWITCH.includes(move.status)) {
      throw new ApiError('conflict', {
        detail: `The account is still in ${move.source}. Confirm the move once it is in ${move.target}.`,
      })
    }
    if (move.switched_at === null) {
      throw new ApiError('conflict', {
        detail: `The account has stayed in ${move.source}. There is nothing to confirm.`,
      })
    }
    if (move.status === 'switched' && move.confirmed === 0) {
      const details = { move: move.id, source: move.source, target: move.target }
      await withAudit(c.env.DB, entryOf(c, 'account.move.confirm', move.account, details), [
        confirmMove(c.env.DB, move.account, Date.now(), MOVE_LIMITS.leastMs),
      ])
    }
    return c.json(presentMove(await findRouteMove(c)), 202)
  })

const entryOf = (c: Context<AppEnv>, action: string, account: string, details: object) => ({
  ...{ actor: c.var.actor, action, account, details: { ...details } },
})

async function findRouteMove(c: Context<AppEnv>): Promise<AccountMove> {
  const { id } = await findRouteAccount(c)
  const name = c.req.param('move_id') ?? ''
  const move = await findMove(c.env.DB, id, name)
  if (!move) throw notFound('move', name)
  return move
}

/** Returns the move that a request without members names. */
async function readCommand(c: Context<AppEnv>): Promise<AccountMove> {
  readQuery(c.req.url)
  const move = await findRouteMove(c)
  await readFields(c, {})
  return move
}

/** Returns the error of a database that cannot take the account. */
const refused = (message: string, instruction: string) =>
  validationFailed([{ pointer: '/to', code: 'not_applicable', message, instruction }])

/**
 * Refuses a database that cannot take the records of an account.
 *
 * @throws ApiError `validation_failed`
 */
async function admitTarget(env: Env, account: Account, to: string): Promise<void> {
  const { id, binding, jurisdiction } = account
  const names = databaseBindings(env)
  if (!names.includes(to)) {
    throw validationFailed([{ pointer: '/to', code: 'enum', expected: names.join(', ') }])
  }
  if (to === binding) throw refused(`The account is in ${to} already.`, 'Choose another database.')
  if (jurisdictionOf(to) !== jurisdiction) {
    const where = (name: string | null) =>
      name === null ? 'has no jurisdiction' : `belongs to ${name}`
    throw refused(
      `${to} ${where(jurisdictionOf(to))}, and the account ${where(jurisdiction)}.`,
      'Choose a database of the same jurisdiction.',
    )
  }
  const [source, target] = [resolveDatabase(env, binding), resolveDatabase(env, to)]
  const [isSame, stored, [usage]] = await Promise.all([
    haveSameTables(source, target, id),
    readSize(target),
    readUsages(source, [id]),
  ])
  if (!isSame) {
    throw refused(
      `The tables of ${to} and ${binding} differ.`,
      'Apply the migrations to both databases.',
    )
  }
  const own = usage?.bytes ?? 0
  if (stored + own > PLANNED_BYTES) {
    const [has, gets] = [stored, own].map((bytes) => `${(bytes / 1e9).toFixed(2)} GB`)
    throw refused(
      `${to} has ${has}, and the account has ${gets}. A database is full with ${PLANNED_BYTES / 1e9} GB.`,
      'Choose another one, or add one.',
    )
  }
}

async function haveSameTables(source: D1Database, target: D1Database, account: string) {
  try {
    await describePair(source, target, account)
    return true
  } catch (error) {
    if (error instanceof CopyRefused) return false
    throw error
  }
}

/** Returns the size of a database in bytes. */
async function readSize(db: D1Database): Promise<number> {
  const { meta } = await withD1Retry(() => db.prepare('select 1').run())
  return meta.size_after
}

/**
 * Refuses a move while records of the account are being deleted.
 *
 * @throws ApiError `conflict`
 */
async function refuseDuringWork(env: Env, { id, binding }: Account): Promise<void> {
  const work = await findWork(resolveDatabase(env, binding), id)
  const detail =
    work === 'reset'
      ? 'The records of the account are being deleted. Move it once that is done.'
      : work === 'erasure'
        ? 'The personal data of a customer is being erased. Move the account once that is done.'
        : null
  if (detail !== null) throw new ApiError('conflict', { detail })
}

const alreadyMoving = ({ target, source, switched_at }: AccountMove) =>
  new ApiError('conflict', {
    detail:
      switched_at === null
        ? `The account is already being moved to ${target}.`
        : `${source} still has the old copy of the account's last move. Confirm that move first, and wait until the copy is deleted.`,
  })

async function beginMove(
  c: Context<AppEnv>,
  { id: account, binding: source }: Account,
  { to: target, confirm }: { to: string; confirm: boolean },
): Promise<AccountMove> {
  const now = Date.now()
  const id = `mov_${ulid(now)}`
  const move = {
    ...{ id, account, source, target, actor: c.var.actor, confirmed: Number(confirm) as 0 | 1 },
    ...{ started_at: new Date(now).toISOString(), due_at: now + MOVE_LIMITS.quietPauseMs },
  }
  const details = { move: id, source, target, ...(confirm && { confirm }) }
  const entry = entryOf(c, 'account.move.start', account, details)
  try {
    await withAudit(c.env.DB, entry, [insertMove(c.env.DB, move)], newAuditId())
  } catch (error) {
    const active = isUniqueViolation(error) ? await findActiveMove(c.env.DB, account) : null
    if (!active) throw error
    // An earlier attempt of this request may have succeeded although its response was lost.
    if (active.id !== id) throw alreadyMoving(active)
  }
  try {
    await startMove(c.env, { account, id, attempt: 1 })
  } catch (error) {
    // The move is stored: a cron starts its Workflow.
    console.error(JSON.stringify({ fault: errorName(error), not_started: id }))
  }
  const stored = await findMove(c.env.DB, account, id)
  if (!stored) throw notFound('move', id)
  return stored
}
