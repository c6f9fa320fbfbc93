import * as v from 'valibot'
import { PLANNED_BYTES, readUsage } from '../../ingest/db/storage.ts'
import { databaseBindings, jurisdictionOf, resolveDatabase } from '../../platform/db/database.ts'
import type { Account, AccountMove } from '../../platform/db/schema.ts'
import { ulid } from '../../platform/db/ulid.ts'
import * as rows from '../../platform/directory/account-moves.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import { readSize } from '../../platform/directory/databases.ts'
import { ApiError } from '../../platform/errors.ts'
import { list, operation } from '../../platform/http/operation.ts'
import { notFound, validationFailed } from '../../platform/http/read-fields.ts'
import { sendJobs } from '../../platform/jobs.ts'
import { time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, said } from '../../platform/validation/fields.ts'
import { isBusy } from './doors.ts'

/** Returns a move as the administration API shows it. */
const presentMove = (move: AccountMove) => ({
  move: move.id,
  account: move.account,
  from: move.source,
  to: move.target,
  status: move.status,
  reason: move.reason,
  started_by: move.actor,
  started_at: move.started_at,
  switched_at: move.switched_at,
  ended_at: move.ended_at,
})

/**
 * Refuses what must not happen while an account moves, or its old copy is there.
 *
 * @throws ApiError `conflict`
 */
export async function refuseWhileMoving(env: Env, account: string): Promise<void> {
  const move = await rows.findActiveMove(env.DB, account)
  if (!move) return
  throw new ApiError('conflict', {
    detail: `The account is being moved to ${move.target}. Wait until the move has ended, about 10 minutes after the switch, or cancel it before.`,
  })
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
  const [stored, own] = await Promise.all([readSize(target), readUsage(source, id)])
  if (stored + own > PLANNED_BYTES) {
    const [has, gets] = [stored, own].map((bytes) => `${(bytes / 1e9).toFixed(2)} GB`)
    throw refused(
      `${to} has ${has}, and the account has ${gets}. A database is full with ${PLANNED_BYTES / 1e9} GB.`,
      'Choose another one, or add one.',
    )
  }
}

const move_id = member(v.string(), said('The id of the move.', 'mov_01M7W0R4W8E3V15G8XPED3Z94X'))

const move = component('Move', () => ({
  move: move_id,
  account: member(v.string(), 'The id of the account.'),
  from: member(v.string(), 'The binding of the database that the account leaves.'),
  to: member(v.string(), 'The binding of the database that it moves to.'),
  status: member(
    v.picklist(['copying', 'switched', 'done', 'cancelling', 'cancelled', 'failed']),
    '`copying`: writes are refused, and its rows are copied. `switched`: the account is in the new database, and the old copy is deleted 10 minutes later. `done`: it is deleted. `cancelling`: the account stays where it was, and its copy is being deleted. `cancelled` and `failed`: it is deleted.',
  ),
  reason: nullable(v.string(), 'Why the move failed. Null if it did not.'),
  started_by: member(v.string(), 'Who started the move.'),
  started_at: time,
  switched_at: nullable(time, 'When the account came to the new database.'),
  ended_at: nullable(time, 'When the move ended. Null until then.'),
}))

const ofMoves = { topic: 'accounts', path: '/moves' } as const

export const moveAccount = operation({
  ...ofMoves,
  id: 'moveAccount',
  shows: 'account',
  method: 'POST',
  body: {
    to: member(f.text, said('The binding of the database that the account moves to.', 'DB_2')),
  },
  status: 202,
  words: described(() => ({
    description:
      'Refuses the writes of an account (503 with `Retry-After`) for about a minute a million records, copies its rows to another database, compares both, and switches. Reads are answered meanwhile. The database must have the same tables and the jurisdiction of the account, and room for it. An account moves once at a time, and not while a run, a reset or an erasure goes on (409).',
    answer: move,
    errors: ['conflict'],
    command: {
      name: 'accounts move',
      recovery: 'List the moves of the account with `accounts moves`.',
    },
  })),
  async run({ env, actor, account }, { to: target }) {
    const { id: owner, binding: source } = account
    const active = await rows.findActiveMove(env.DB, owner)
    // The request is repeated.
    if (active?.status === 'copying' && active.target === target) return presentMove(active)
    await refuseWhileMoving(env, owner)
    await admitTarget(env, account, target)
    if (await isBusy(resolveDatabase(env, source), owner)) {
      throw new ApiError('conflict', {
        detail: 'A run, a reset or an erasure of the account goes on. Move it after that.',
      })
    }
    const id = `mov_${ulid(Date.now())}`
    const started_at = new Date().toISOString()
    const entry = {
      actor,
      action: 'account.move.start',
      account: owner,
      details: { move: id, source, target },
    }
    const insert = rows.insertMove(env.DB, {
      id,
      account: owner,
      source,
      target,
      actor,
      started_at,
    })
    await withAudit(env.DB, entry, [insert])
    // Otherwise a cron begins within a minute.
    await sendJobs(env, [{ job: 'move', account: owner, at: Date.now() }])
    const stored = await rows.findMove(env.DB, owner, id)
    if (!stored) throw notFound('move', id)
    return presentMove(stored)
  },
})

export const listMoves = list({
  ...ofMoves,
  id: 'listMoves',
  shows: 'account',
  words: described(() => ({
    description: 'Lists the moves of an account, the latest first.',
    answer: move,
    command: {
      name: 'accounts moves',
      columns: ['move', 'from', 'to', 'status', 'started_at', 'switched_at', 'ended_at'],
    },
  })),
  async list({ env, account }, _, page) {
    const found = await rows.listMoves(env.DB, account.id, page)
    return { ...found, data: found.data.map(presentMove) }
  },
})

export const cancelMove = operation({
  topic: 'accounts',
  params: { move_id },
  id: 'cancelMove',
  shows: 'account',
  method: 'POST',
  path: '/moves/{move_id}/cancel',
  status: 202,
  words: described(() => ({
    description:
      'Ends a move before the switch. The account stays where it is, and its copy is deleted. After the switch: 409.',
    answer: move,
    errors: ['conflict'],
    command: { name: 'accounts cancel-move' },
  })),
  async run({ env, actor, account }, { move_id: id }) {
    const find = async () => {
      const found = await rows.findMove(env.DB, account.id, id)
      if (!found) throw notFound('move', id)
      return found
    }
    const stored = await find()
    if (stored.status === 'copying') {
      const entry = {
        actor,
        action: 'account.move.cancel',
        account: account.id,
        details: { move: id },
      }
      await withAudit(env.DB, entry, [rows.changeMove(env.DB, stored, { status: 'cancelling' })])
    }
    const { status, reason, ...found } = await find()
    if ((status === 'cancelling' || status === 'cancelled') && reason === null) {
      return presentMove({ status, reason, ...found })
    }
    throw new ApiError('conflict', {
      detail:
        reason === null
          ? `The account is already in ${found.target}. To move it back, start another move once this one is \`done\`.`
          : 'The move has failed. The account stays where it was.',
    })
  },
})

/** The operations that move an account to another database. */
export const MOVE_OPERATIONS = [moveAccount, listMoves, cancelMove]
