import type { listDatabases } from '../../admin/databases.ts'
import type { getMove } from '../../admin/moves.ts'
import type { AnswerOf } from '../../http/operation.ts'
import type { Visit } from '../page.ts'
import { Badge, count, Live, Time } from './data.tsx'
import { storageWords } from './field-words.ts'
import { Facts, type Pair } from './fields.tsx'
import { ChangeForm, FoldedForm, type Option } from './forms.tsx'

type Move = AnswerOf<typeof getMove>
type Database = AnswerOf<typeof listDatabases>['data'][number]

/** The states in which a move can be cancelled. */
const CANCELLABLE = ['copying', 'comparing', 'waiting', 'switching']

/** The states that a page shows again by itself. */
const CHANGING = [...CANCELLABLE, 'dropping', 'cancelling']

const WAITS: Readonly<Record<string, string>> = {
  run: 'It waits until the computation of statements has ended.',
  reset: 'It waits until all records are deleted.',
  erasure: 'It waits until the personal data of a customer is erased.',
  archive: 'It waits until old records are archived, or are back.',
  writes: 'It waits for a time with fewer changes.',
}

/** Returns a sentence, and how many records it holds for so far. */
function withProgress(sentence: string, { records_done, records_about }: Move): string {
  return records_done === null || records_about === null
    ? `${sentence}.`
    : `${sentence}: ${count(records_done)} of about ${count(records_about)}.`
}

/** Says how far a move is. */
function stateOf(move: Move): string {
  const { from, to, status, waits_for } = move
  const states: Readonly<Record<string, string>> = {
    copying: `${withProgress('Its records are being copied', move)} The account works as always.`,
    comparing: `${withProgress('The copied records are being compared', move)} The account works as always.`,
    waiting: WAITS[waits_for ?? ''] ?? 'It is about to switch.',
    switching: 'It is about to switch. Changes may be refused for a moment.',
    switched: `The account is in ${to}. A copy is kept in ${from} for now.`,
    dropping: `The account is in ${to}. The copy in ${from} is being deleted.`,
    done: `The account is in ${to}. The copy in ${from} is deleted.`,
    cancelling: `The account stays in ${from}. The copy in ${to} is being deleted.`,
    cancelled: `The move was cancelled. The account has stayed in ${from}.`,
    failed: `The account has stayed in ${from}.`,
  }
  return states[status] ?? status
}

/** The states of moves after which another one can be started. */
const ENDED = ['done', 'cancelled', 'failed']

const accountsText = (accounts: number) =>
  accounts === 1 ? '1 account' : `${count(accounts)} accounts`

/** Returns the words of a database: how full it is. */
const databaseWords = ({ binding, accounts, bytes }: Database): string =>
  [binding, accountsText(accounts), ...(bytes === null ? [] : [storageWords(bytes)])].join(', ')

/** Renders the form that moves an account; nothing if it moves already, or there is no other database. */
export function StartMove(props: {
  visit: Visit
  account: { readonly binding: string; readonly jurisdiction: string | null }
  databases: readonly Database[]
  latest: Move | undefined
}) {
  const { visit, account, databases, latest } = props
  const others = databases.filter(
    ({ binding, jurisdiction }) =>
      binding !== account.binding && jurisdiction === account.jurisdiction,
  )
  if (others.length === 0 || (latest && !ENDED.includes(latest.status))) return null
  return (
    <>
      {!latest && <h2 id="move">Database</h2>}
      <FoldedForm
        visit={visit}
        change="start_move"
        title="Move the account to another database"
        submit="Move the account"
        needs="approver"
        fields={[
          {
            name: 'to',
            label: 'Database',
            options: others.map((one): Option => [one.binding, databaseWords(one)]),
            hint: 'For example because its database is nearly full. The account goes on working. Its writes are refused once, for a few seconds, and senders repeat them.',
          },
        ]}
      />
    </>
  )
}

/** Renders the latest move of an account, with what can be done. */
export function LatestMove({ visit, move }: { visit: Visit; move: Move }) {
  const { from, status, pause_ms, reason, started_at, switched_at, drop_at } = move
  const facts: Pair[] = [
    [
      'State',
      <>
        {status === 'failed' && <Badge tone="bad">Failed</Badge>} {stateOf(move)}
      </>,
    ],
    ['Begun', <Time at={started_at} />],
    ...(reason === null ? [] : [['Reason', reason] satisfies Pair]),
    ...(switched_at === null ? [] : [['Switched', <Time at={switched_at} />] satisfies Pair]),
    ...(pause_ms === null
      ? []
      : [['Changes were refused for', `${pause_ms / 1000} seconds`] satisfies Pair]),
    ...(drop_at === null
      ? []
      : [[`Deleted in ${from} after`, <Time at={drop_at} />] satisfies Pair]),
  ]
  return (
    <>
      <h2 id="move">
        Move from {move.from} to {move.to}
      </h2>
      <Live id="latest-move" seconds={CHANGING.includes(status) ? 5 : null}>
        <Facts visit={visit} row={{}} names={[]} more={facts} />
        {CANCELLABLE.includes(status) && (
          <ChangeForm visit={visit} change="cancel_move" submit="Cancel the move" needs="approver">
            <input type="hidden" name="move" value={move.move} />
          </ChangeForm>
        )}
        {status === 'switched' && (
          <FoldedForm
            visit={visit}
            change="confirm_move"
            title="Delete the old copy now"
            submit="Delete the old copy"
            needs="approver"
          >
            <p>
              Look first whether the account works as it should. After that it cannot go back
              without another move.
            </p>
            <input type="hidden" name="move" value={move.move} />
          </FoldedForm>
        )}
      </Live>
    </>
  )
}
