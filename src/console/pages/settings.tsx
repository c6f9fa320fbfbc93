import { changeAccount, getAccount, resetAccount } from '../../admin/accounts.ts'
import { listDatabases } from '../../admin/databases.ts'
import { accountChange, affiliateViewFields } from '../../admin/fields.ts'
import { cancelMove, confirmMove, type getMove, listMoves, moveAccount } from '../../admin/moves.ts'
import { DEFAULT_VIEW } from '../../auth/affiliate-view.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { calling } from '../calling.ts'
import { type Page, useVisit, type Values } from '../page.ts'
import { Badge, count, Live, Time } from '../parts/data.tsx'
import {
  ACCOUNT_WORDS,
  jurisdictionWords,
  MODES,
  storageWords,
  VERTICALS,
  VIEW_WORDS,
} from '../parts/field-words.ts'
import { Facts, type Pair } from '../parts/fields.tsx'
import { ChangeForm, ConfirmForm, FoldedForm, type Option } from '../parts/forms.tsx'
import { changedMembers } from '../parts/schema.ts'
import { SchemaForm } from '../parts/schema-fields.tsx'
import { AccountTabs } from '../parts/tabs.tsx'

type Move = AnswerOf<typeof getMove>
type Database = AnswerOf<typeof listDatabases>['data'][number]

/** The states in which a move can be cancelled. */
const CANCELLABLE = ['waiting', 'copying', 'comparing']

/** The states that a page shows again by itself. */
const CHANGING = [...CANCELLABLE, 'dropping', 'cancelling']

const WAITS: Readonly<Record<string, string>> = {
  run: 'It waits until the computation of statements has ended.',
  reset: 'It waits until all records are deleted.',
  erasure: 'It waits until the personal data of a customer is erased.',
  archive: 'It waits until old records are archived, or are back.',
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
    copying: `${withProgress('Its records are being copied', move)} Changes are refused meanwhile.`,
    comparing: 'The copied records are being compared. Changes are refused meanwhile.',
    waiting: WAITS[waits_for ?? ''] ?? 'It is about to begin.',
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
function StartMove(props: {
  account: { readonly binding: string; readonly jurisdiction: string | null }
  databases: readonly Database[]
  latest: Move | undefined
}) {
  const { account, databases, latest } = props
  const others = databases.filter(
    ({ binding, jurisdiction }) =>
      binding !== account.binding && jurisdiction === account.jurisdiction,
  )
  if (others.length === 0 || (latest && !ENDED.includes(latest.status))) return null
  return (
    <>
      {!latest && <h2 id="move">Database</h2>}
      <FoldedForm
        change="start_move"
        title="Move the account to another database"
        submit="Move the account"
        needs="approver"
        fields={[
          {
            name: 'to',
            label: 'Database',
            options: others.map((one): Option => [one.binding, databaseWords(one)]),
            hint: 'For example because its database is nearly full. Changes are refused meanwhile, for about a minute a million records, and senders repeat them.',
          },
        ]}
      />
    </>
  )
}

/** Renders the latest move of an account, with what can be done. */
function LatestMove({ move }: { move: Move }) {
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
        <Facts row={{}} names={[]} more={facts} />
        {CANCELLABLE.includes(status) && (
          <ChangeForm change="cancel_move" submit="Cancel the move" needs="approver">
            <input type="hidden" name="move_id" value={move.move} />
          </ChangeForm>
        )}
        {status === 'switched' && (
          <FoldedForm
            change="confirm_move"
            title="Delete the old copy now"
            submit="Delete the old copy"
            needs="approver"
          >
            <p>
              Look first whether the account works as it should. After that it cannot go back
              without another move.
            </p>
            <input type="hidden" name="move_id" value={move.move} />
          </FoldedForm>
        )}
      </Live>
    </>
  )
}

/** Returns the change of an account that the form asks for. A file that is not sent leaves the logo as it is. */
function changedLooks(values: Values): object {
  const image = values('file:base64')
  const color = values('accent_color').trim()
  return {
    accent_color: color === '' ? null : color,
    ...(values('remove_logo') === 'yes' && { logo: null }),
    ...(image !== '' && { logo: `data:;base64,${image}` }),
  }
}

type Account = AnswerOf<typeof getAccount>

const {
  disabled: _disabled,
  affiliate_view: _view,
  landing_pages: _pages,
  accent_color: _color,
  logo: _logo,
  book_zone,
  ...common
} = accountChange

/** Returns the members that can be set: brands have no `book_zone`. */
const schemasOf = ({ vertical }: Account) =>
  vertical === 'igaming' ? common : { ...common, book_zone }

const StopAccount = ({ account }: { account: Account }, visit = useVisit()) => (
  <>
    <h2>Stop the account</h2>
    {account.disabled ? (
      <ChangeForm change="enable" submit="Enable the account" />
    ) : (
      <ConfirmForm change="disable" submit="Disable the account" name={visit.account}>
        <p>Its credentials are refused until you enable it again. Nothing is deleted.</p>
      </ConfirmForm>
    )}
    {account.mode === 'test' && (
      <ConfirmForm change="reset" submit="Delete all records" name={visit.account}>
        <p>
          Permanently deletes every record, statement, payment and webhook of this test account.
        </p>
      </ConfirmForm>
    )}
  </>
)

const jurisdictionOf = ({ jurisdiction }: Account): string | null =>
  jurisdiction === null ? null : jurisdictionWords(jurisdiction)

/** Returns a pair unless it has no value. */
const only = (title: string, value: string | null): Pair[] =>
  value === null ? [] : [[title, value]]

/** The settings of an account, with the meaning of each. */
export const settingsPage: Page = {
  path: '/accounts/:account/account',
  section: 'Account',
  changes: {
    save: calling(changeAccount, 'The settings are saved.'),
    view: calling(
      changeAccount,
      'What affiliates see is saved. It holds from their next request on.',
      (values) => ({ affiliate_view: changedMembers(affiliateViewFields, values) }),
    ),
    pages: calling(
      changeAccount,
      'The pages are saved. Links that were made before stay as they are.',
      (values) => ({ landing_pages: values('landing_pages').split(/\s+/).filter(Boolean) }),
    ),
    looks: calling(changeAccount, 'How the portal looks is saved.', changedLooks),
    start_move: calling(moveAccount, 'The account is being moved. This page shows how far it is.'),
    cancel_move: calling(cancelMove, 'The move is cancelled. The account stays where it is.'),
    confirm_move: calling(
      confirmMove,
      'The old copy is deleted, ten minutes after the switch at the earliest.',
    ),
    enable: calling(changeAccount, 'The account is enabled.', () => ({ disabled: false })),
    disable: {
      ...calling(changeAccount, 'The account is disabled.', () => ({ disabled: true })),
      confirm: ({ account }) => account,
    },
    reset: {
      ...calling(resetAccount, 'The records are deleted. A large account takes some minutes.'),
      confirm: ({ account }) => account,
    },
  },
  async render(visit) {
    const [account, { data: moves }, { data: databases }] = await Promise.all([
      visit.api.call(getAccount, { account: visit.account }),
      visit.api.call(listMoves, { account: visit.account, per_page: 1 }),
      visit.api.call(listDatabases, {}),
    ])
    const [move] = moves
    const { storage_bytes: stored, storage_quota: quota } = account
    const body = (
      <>
        <AccountTabs here="Settings" />
        <Facts
          row={account}
          names={['account', 'created_at']}
          more={[
            ['Vertical', VERTICALS[account.vertical] ?? account.vertical],
            ['Mode', MODES[account.mode] ?? account.mode],
            ...only('Jurisdiction', jurisdictionOf(account)),
            ...only('Database', databases.length === 1 ? null : account.binding),
            ['Credentials', account.disabled ? <Badge tone="bad">disabled</Badge> : 'accepted'],
            ['Storage', `${storageWords(stored)} of ${storageWords(quota)}`],
          ]}
        />
        <SchemaForm
          change="save"
          submit="Save settings"
          schemas={schemasOf(account)}
          words={ACCOUNT_WORDS}
          values={{ ...account, ...account.policies }}
        />
        <h2 id="affiliates">What affiliates see</h2>
        <SchemaForm
          change="view"
          submit="Save what affiliates see"
          schemas={affiliateViewFields}
          words={VIEW_WORDS}
          values={{ ...DEFAULT_VIEW, ...account.affiliate_view }}
        />
        <h2 id="landing-pages">Links that affiliates make</h2>
        <ChangeForm
          change="pages"
          submit="Save the pages"
          fields={[
            {
              name: 'landing_pages',
              label: 'Pages to which they may lead',
              type: 'area',
              value: account.landing_pages.join('\n'),
              hint: 'One address on each line, such as https://acme.example/start. A link may lead to each of these pages, and to all pages below it. Empty: affiliates cannot make links. Your own links may lead anywhere.',
            },
          ]}
        />
        <h2 id="looks">How the portal of affiliates looks</h2>
        {account.logo && (
          <p>
            <img
              src={`/portal/${encodeURIComponent(account.account)}/logo?v=${account.logo.digest}`}
              alt="The present logo"
              class="logo"
            />
          </p>
        )}
        <ChangeForm
          change="looks"
          submit="Save how the portal looks"
          fields={[
            {
              name: 'accent_color',
              label: 'Color of links and buttons',
              value: account.accent_color ?? '',
              placeholder: '#0a6472',
              hint: 'Six digits after #, such as #0a6472. It must be dark enough to be read on white. On dark screens a lighter one stands for it. Empty: the color of the service.',
            },
            {
              name: 'file',
              label: account.logo ? 'Another logo' : 'Logo',
              type: 'file',
              pointer: '/logo',
              attributes: { accept: '.svg,.png,image/svg+xml,image/png' },
              hint: 'An SVG or PNG image of at most 50 KB. It stands beside the name of the account.',
            },
            ...(account.logo
              ? [
                  {
                    name: 'remove_logo',
                    label: 'The present logo',
                    options: [
                      ['', 'Stays'],
                      ['yes', 'Is removed'],
                    ] as const,
                  },
                ]
              : []),
          ]}
        />
        {move && <LatestMove move={move} />}
        <StartMove account={account} databases={databases} latest={move} />
        <StopAccount account={account} />
      </>
    )
    return { title: 'Settings', body }
  },
}
