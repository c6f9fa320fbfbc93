import * as v from 'valibot'
import { readUsage } from '../../ingest/db/storage.ts'
import { PLANNED_BYTES } from '../../ingest/db/storage-limits.ts'
import { databaseBindings, jurisdictionOf, resolveDatabase } from '../../platform/db/database.ts'
import { isUniqueViolation, withD1Retry } from '../../platform/db/retry.ts'
import type { Account, AccountMove } from '../../platform/db/schema.ts'
import { ulid } from '../../platform/db/ulid.ts'
import * as rows from '../../platform/directory/account-moves.ts'
import { newAuditId, withAudit } from '../../platform/directory/audit.ts'
import { ApiError, errorName } from '../../platform/errors.ts'
import { type AccountCall, accountList, accountOperation } from '../../platform/http/operation.ts'
import { notFound, validationFailed } from '../../platform/http/read-fields.ts'
import { count, time } from '../../platform/validation/answer-fields.ts'
import { described, named } from '../../platform/validation/described.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { newMove } from './move-fields.ts'
import { MOVE_LIMITS } from './move-limits.ts'
import { dropAt, placeOf, startMove } from './move-steps.ts'

/** Returns a move as the administration API shows it. */
const presentMove = (move: AccountMove) => {
  const due = move.status === 'switched' ? dropAt(move) : null
  return {
    move: move.id,
    account: move.account,
    from: move.source,
    to: move.target,
    status: move.status,
    records_done: placeOf(move)?.records ?? null,
    waits_for: move.waits_for,
    pause_ms:
      move.switched_at !== null && move.closed_at !== null
        ? Date.parse(move.switched_at) - move.closed_at
        : null,
    reason: move.reason,
    started_by: move.actor,
    started_at: move.started_at,
    switched_at: move.switched_at,
    drop_at: due === null ? null : new Date(due).toISOString(),
    ended_at: move.ended_at,
  }
}

async function findMove({ env, account }: AccountCall, id: string): Promise<AccountMove> {
  const found = await rows.findMove(env.DB, account.id, id)
  if (!found) throw notFound('move', id)
  return found
}

/** Stores what a person decides about a move. */
function decide(
  { env, actor, account }: AccountCall,
  action: 'cancel' | 'confirm',
  { id, source, target }: AccountMove,
  statement: D1PreparedStatement,
): Promise<unknown> {
  const details = { move: id, source, target }
  const entry = { actor, action: `account.move.${action}`, account: account.id, details }
  return withAudit(env.DB, entry, [statement])
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

/** Returns the size of a database in bytes. */
async function readSize(db: D1Database): Promise<number> {
  const { meta } = await withD1Retry(() => db.prepare('select 1').run())
  return meta.size_after
}

const alreadyMoving = ({ target, source, switched_at }: AccountMove) =>
  new ApiError('conflict', {
    detail:
      switched_at === null
        ? `The account is already being moved to ${target}.`
        : `${source} still has the old copy of the account's last move. Confirm that move first, and wait until the copy is deleted.`,
  })

async function beginMove(
  { env, actor, account: { id: account, binding: source } }: AccountCall,
  { to: target, confirm }: { to: string; confirm: boolean },
): Promise<AccountMove> {
  const now = Date.now()
  const id = `mov_${ulid(now)}`
  const move = {
    ...{ id, account, source, target, actor, confirmed: Number(confirm) as 0 | 1 },
    ...{ started_at: new Date(now).toISOString(), due_at: now + MOVE_LIMITS.quietMs },
  }
  const details = { move: id, source, target, ...(confirm && { confirm }) }
  const entry = { actor, action: 'account.move.start', account, details }
  try {
    await withAudit(env.DB, entry, [rows.insertMove(env.DB, move)], newAuditId())
  } catch (error) {
    const active = isUniqueViolation(error) ? await rows.findActiveMove(env.DB, account) : null
    if (!active) throw error
    // An earlier attempt of this request may have succeeded although its response was lost.
    if (active.id !== id) throw alreadyMoving(active)
  }
  try {
    await startMove(env, { account, id, attempt: 1 })
  } catch (error) {
    // The move is stored: a cron starts its Workflow.
    console.error(JSON.stringify({ fault: errorName(error), not_started: id }))
  }
  const stored = await rows.findMove(env.DB, account, id)
  if (!stored) throw notFound('move', id)
  return stored
}

const move_id = member(v.string(), said('The id of the move.', 'mov_01M7W0R4W8E3V15G8XPED3Z94X'))

const move = described(() =>
  named(
    'Move',
    v.object({
      move: move_id,
      account: member(v.string(), 'The id of the account.'),
      from: member(v.string(), 'The binding of the database that the account leaves.'),
      to: member(v.string(), 'The binding of the database that it moves to.'),
      status: member(
        v.picklist([
          'waiting',
          'copying',
          'comparing',
          'switched',
          'dropping',
          'done',
          'cancelling',
          'cancelled',
          'failed',
        ]),
        '`waiting`: it waits for work of the account, see `waits_for`. `copying`: writes are refused, and its rows are copied. `comparing`: the copy is compared. `switched`: the account is in the new database, and the old copy is kept until `drop_at`. `dropping`: the old copy is being deleted. `done`: it is deleted. `cancelling`: the account stays where it was, and its copy is being deleted. `cancelled` and `failed`: it is deleted.',
      ),
      records_done: v.nullable(
        member(
          count,
          'How many records are copied so far. Null in other states, and while the first of them are copied.',
        ),
      ),
      waits_for: v.nullable(
        member(
          v.picklist(['run', 'reset', 'erasure', 'archive']),
          'What the move waits for before it refuses writes. `run`: a statement run. `reset`: the reset of a test account. `erasure`: an erasure of personal data. `archive`: a month that leaves for the archive, or is loaded. Null if it waits for nothing.',
        ),
      ),
      pause_ms: v.nullable(
        member(count, 'For how long writes were refused, in milliseconds. Null before the switch.'),
      ),
      reason: v.nullable(member(v.string(), 'Why the move failed. Null if it did not.')),
      started_by: member(v.string(), 'Who started the move.'),
      started_at: time,
      switched_at: v.nullable(member(time, 'When the account came to the new database.')),
      drop_at: v.nullable(
        member(
          time,
          'When the old copy is deleted: 7 days after the switch, or 10 minutes after it if somebody has confirmed the move. Null at any other time.',
        ),
      ),
      ended_at: v.nullable(member(time, 'When the move ended. Null until then.')),
    }),
  ),
)

const ofMoves = { topic: 'accounts', path: '/moves' } as const
const ofMove = { topic: 'accounts', params: { move_id } } as const

export const moveAccount = accountOperation({
  ...ofMoves,
  id: 'moveAccount',
  method: 'POST',
  body: newMove,
  status: 202,
  words: described(() => ({
    description:
      'Refuses the writes of an account (503 with `Retry-After`) for about a minute a million records, copies its rows to another database, compares both, and switches. Reads are answered meanwhile, except totals and reports of days that have changed since they were last summed. The database must have the same tables and the jurisdiction of the account, and room for it. An account moves once at a time; the old copy of an earlier move must be deleted first (409).',
    answer: move,
    errors: ['conflict'],
    command: {
      name: 'accounts move',
      recovery: 'List the moves of the account with `accounts moves`.',
    },
  })),
  async run(call, { to, confirm = false }) {
    const { env, account } = call
    const active = await rows.findActiveMove(env.DB, account.id)
    if (active) {
      // The request is repeated.
      if (active.target === to && active.switched_at === null) return presentMove(active)
      throw alreadyMoving(active)
    }
    await admitTarget(env, account, to)
    return presentMove(await beginMove(call, { to, confirm }))
  },
})

export const listMoves = accountList({
  ...ofMoves,
  id: 'listMoves',
  role: 'viewer',
  words: described(() => ({
    description: 'Lists the moves of an account, the latest first.',
    answer: move,
    command: {
      name: 'accounts moves',
      columns: [
        'move',
        'from',
        'to',
        'status',
        'waits_for',
        'started_at',
        'switched_at',
        'drop_at',
      ],
    },
  })),
  async list({ env, account }, _, page) {
    const found = await rows.listMoves(env.DB, account.id, page)
    return { ...found, data: found.data.map(presentMove) }
  },
})

export const cancelMove = accountOperation({
  ...ofMove,
  id: 'cancelMove',
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
  async run(call, { move_id: id }) {
    const { DB } = call.env
    const stored = await findMove(call, id)
    if (rows.BEFORE_SWITCH.includes(stored.status))
      await decide(call, 'cancel', stored, rows.cancelMove(DB, stored, Date.now()))
    const found = await findMove(call, id)
    if (found.status === 'cancelling' || found.status === 'cancelled') return presentMove(found)
    throw new ApiError('conflict', {
      detail:
        found.reason === null
          ? `The account is already in ${found.target}. To move it back, confirm this move first, and start another one.`
          : 'The move has failed. The account stays where it was.',
    })
  },
})

export const confirmMove = accountOperation({
  ...ofMove,
  id: 'confirmMove',
  method: 'POST',
  path: '/moves/{move_id}/confirm',
  status: 202,
  words: described(() => ({
    description:
      'Has the old copy deleted now and not 7 days after the switch: at the earliest 10 minutes after it, when no request uses the old database any more. Before the switch: 409.',
    answer: move,
    errors: ['conflict'],
    command: { name: 'accounts confirm-move' },
  })),
  async run(call, { move_id: id }) {
    const { DB } = call.env
    const { leastMs } = MOVE_LIMITS
    const stored = await findMove(call, id)
    const { account, source, target, status } = stored
    if (rows.BEFORE_SWITCH.includes(status)) {
      throw new ApiError('conflict', {
        detail: `The account is still in ${source}. Confirm the move once it is in ${target}.`,
      })
    }
    if (stored.switched_at === null) {
      throw new ApiError('conflict', {
        detail: `The account has stayed in ${source}. There is nothing to confirm.`,
      })
    }
    if (status === 'switched' && stored.confirmed === 0)
      await decide(call, 'confirm', stored, rows.confirmMove(DB, account, Date.now(), leastMs))
    return presentMove(await findMove(call, id))
  },
})

/** The operations that move an account to another database. */
export const MOVE_OPERATIONS = [moveAccount, listMoves, cancelMove, confirmMove]
