import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS } from '../../../src/durations.ts'
import { ExitError } from '../../exit-error.ts'
import { object } from '../format.ts'
import { membersOf, type Operation, type Options } from '../operation.ts'

/** How often `--wait` asks how far a move is, in milliseconds. */
const ASK_MS = 2000

const OPTIONS: Options = {
  to: { value: 'binding', description: 'The database that it moves to.', required: true },
  confirm: {
    description:
      'Deletes the old copy 10 minutes after the switch. (default: 7 days after it, or `accounts confirm-move`)',
  },
  wait: { description: 'Waits until the account is in the other database, or the move has ended.' },
}

interface Move {
  readonly move: string
  readonly account: string
  readonly from: string
  readonly status: string
  readonly records_done: number | null
  readonly records_about: number | null
  readonly waits_for: string | null
  readonly reason: string | null
  readonly switched_at: string | null
  readonly drop_at: string | null
}

/** Whether a person has confirmed that the old copy can go: otherwise it is kept for days. */
const isConfirmed = ({ switched_at, drop_at }: Move): boolean =>
  Date.parse(drop_at ?? '') - Date.parse(switched_at ?? '') < DAY_MS

const UNDERWAY: readonly string[] = ['copying', 'comparing', 'waiting', 'switching', 'cancelling']

/** Says how far a move is. */
function progressOf({ status, records_done, records_about, waits_for }: Move): string {
  if (waits_for !== null) return `${status}, for: ${waits_for}`
  if (records_done === null || records_about === null) return status
  return `${status}: ${records_done} of about ${records_about} records`
}

/** Returns what follows from the state of a move. */
function moveNote(body: unknown): string | null {
  const { account, move, status, reason } = body as Move
  if (reason !== null) return reason
  if (UNDERWAY.includes(status)) {
    return `The move goes on by itself. \`accounts show-move ${account} ${move}\` shows how far it is.`
  }
  if (status !== 'switched') return null
  const note = 'The old copy is deleted at the time in drop_at.'
  if (isConfirmed(body as Move)) return note
  return `${note} \`accounts confirm-move ${account} ${move}\` deletes it earlier.`
}

/** Says why an account is not in the other database. */
const failureOf = ({ move, from, status, reason }: Move): string =>
  status === 'failed'
    ? `The move ${move} has failed. ${reason}`
    : `The move ${move} was cancelled. The account has stayed in ${from}.`

const aMove = (operation: Pick<Operation, 'verb' | 'summary' | 'method' | 'path'>): Operation => ({
  ...operation,
  noun: 'accounts',
  example: 'acme MOVE_ID',
  ...(operation.method === 'POST' && { body: () => ({}) }),
  format: object,
  note: moveNote,
})

/** Moves of accounts to other databases. */
export const MOVES: readonly Operation[] = [
  {
    noun: 'accounts',
    verb: 'move',
    summary: 'Moves an account to another database while it goes on writing.',
    example: 'acme --to DB_2',
    method: 'POST',
    path: 'accounts/{account}/moves',
    options: OPTIONS,
    body: (input) => ({
      to: membersOf(OPTIONS, input).to,
      ...(input.options.confirm && { confirm: true }),
    }),
    async run(send, request, input, report) {
      let move = (await send(request)) as Move
      if (!input.options.wait) return move
      const path = `${request.path}/${move.move}`
      let printed = ''
      while (UNDERWAY.includes(move.status)) {
        const progress = progressOf(move)
        if (progress !== printed) report(progress)
        printed = progress
        await sleep(ASK_MS)
        move = (await send({ method: 'GET', path, query: {} })) as Move
      }
      if (move.switched_at === null) throw new ExitError(1, failureOf(move))
      return move
    },
    format: object,
    note: moveNote,
    recovery: 'List the moves of the account with `accounts moves`.',
  },
  aMove({
    verb: 'show-move',
    summary: 'Shows how far a move is, and what it waits for.',
    method: 'GET',
    path: 'accounts/{account}/moves/{move_id}',
  }),
  aMove({
    verb: 'cancel-move',
    summary: 'Cancels a move before the switch: the account stays where it is.',
    method: 'POST',
    path: 'accounts/{account}/moves/{move_id}/cancel',
  }),
  aMove({
    verb: 'confirm-move',
    summary: 'Deletes the old copy of a moved account.',
    method: 'POST',
    path: 'accounts/{account}/moves/{move_id}/confirm',
  }),
]
