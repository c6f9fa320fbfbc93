import { newMove } from '../../../../src/admin/move-fields.ts'
import { BEFORE_SWITCH } from '../../../../src/db/directory/account-moves.ts'
import { documented, object } from '../../envelopes.ts'
import { closedObject } from '../../json-schema.ts'
import type { JsonSchema } from '../../types.ts'
import { type Operation, PAGING, ref } from '../operation.ts'
import { COUNT, oneOf, orNull, TEXT, TIME } from '../shapes.ts'
import { ACCOUNT_PATH, AT, operation, paged, returned } from './operation.ts'

const MOVE_PATH = `${ACCOUNT_PATH}/moves/{move_id}`

/** The schemas of moves. */
export const MOVE_SCHEMAS: Record<string, JsonSchema> = {
  Move: object({
    move: documented('The id of the move.'),
    account: documented('The id of the account.'),
    from: documented('The binding of the database that the account leaves.'),
    to: documented('The binding of the database that it moves to.'),
    status: documented(
      '`copying`: its rows are copied. `comparing`: the copy is compared. `waiting`: the pause waits, see `waits_for`. `switching`: writes are refused for a moment. `switched`: the account is in the new database, and the old copy is kept until `drop_at`. `dropping`: the old copy is being deleted. `done`: it is deleted. `cancelling`: the account stays where it was, and its copy is being deleted. `cancelled` and `failed`: it is deleted.',
      oneOf(...BEFORE_SWITCH, 'switched', 'dropping', 'done', 'cancelling', 'cancelled', 'failed'),
    ),
    records_done: documented(
      'How many records are copied so far, or compared if the status is `comparing`. Null in other states, and while the first of them are copied or compared.',
      orNull(COUNT),
    ),
    records_about: documented(
      'About how many records there are to copy or to compare. Null where `records_done` is.',
      orNull(COUNT),
    ),
    waits_for: documented(
      'What the pause waits for. `run`: a statement run. `reset`: the reset of a test account. `erasure`: an erasure of personal data. `archive`: a month that leaves for the archive, or comes back. `writes`: fewer writes. Null if it waits for nothing.',
      { enum: [null, 'run', 'reset', 'erasure', 'archive', 'writes'] },
    ),
    pause_ms: documented(
      'For how long writes were refused, in milliseconds, in all pauses together. Null before the first.',
      orNull(COUNT),
    ),
    reason: documented('Why the move failed. Null if it did not.', orNull(TEXT)),
    started_by: documented('Who started the move.'),
    started_at: TIME,
    switched_at: documented('When the account came to the new database.', orNull(TIME)),
    drop_at: documented(
      'When the old copy is deleted: 7 days after the switch, or 10 minutes after it if somebody has confirmed the move. Null at any other time.',
      orNull(TIME),
    ),
    ended_at: documented('When the move ended. Null until then.', orNull(TIME)),
  }),
}

const accepted = (description: string) => ({ 202: { description, schema: ref('Move') } })

/** Lists the operations that move an account to another database. */
export const moves = (): Operation[] => [
  operation({
    method: 'post',
    path: `${ACCOUNT_PATH}/moves`,
    id: 'moveAccount',
    summary: 'Move an account to another database',
    description:
      'Copies the rows of an account to another database while it goes on writing, refuses its writes for a few seconds (503 with `Retry-After`), copies the rest, compares both, and switches. Reads are answered all the time. The database must have the same tables and the jurisdiction of the account, and room for it. An account moves once at a time; the old copy of an earlier move must be deleted first (409).',
    body: { schema: closedObject(newMove, AT) },
    answers: accepted('The move, which goes on by itself.'),
    errors: ['conflict'],
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/moves`,
    id: 'listMoves',
    summary: 'List the moves of an account',
    description: 'Lists the moves of an account, the latest first.',
    parameters: PAGING,
    answers: paged('One page of moves.', ref('Move')),
  }),
  operation({
    method: 'get',
    path: MOVE_PATH,
    id: 'getMove',
    summary: 'Get a move',
    description: 'Returns how far a move is, and what it waits for.',
    answers: returned('The move.', ref('Move')),
  }),
  operation({
    method: 'post',
    path: `${MOVE_PATH}/cancel`,
    id: 'cancelMove',
    summary: 'Cancel a move',
    description:
      'Ends a move before the switch. The account stays where it is, and its copy is deleted. After the switch: 409.',
    body: { schema: closedObject({}, AT), required: false },
    answers: accepted('The move, whose copy is being deleted.'),
    errors: ['conflict'],
  }),
  operation({
    method: 'post',
    path: `${MOVE_PATH}/confirm`,
    id: 'confirmMove',
    summary: 'Delete the old copy of a moved account',
    description:
      'Has the old copy deleted now and not 7 days after the switch: at the earliest 10 minutes after it, when no request uses the old database any more. Before the switch: 409.',
    body: { schema: closedObject({}, AT), required: false },
    answers: accepted('The move, with the time from which the old copy is deleted.'),
    errors: ['conflict'],
  }),
]
