import { changeAccount, getAccount, resetAccount } from '../../admin/accounts.ts'
import { listDatabases } from '../../admin/databases.ts'
import { accountChange, affiliateViewFields } from '../../admin/fields.ts'
import { cancelMove, confirmMove, listMoves, moveAccount } from '../../admin/moves.ts'
import { DEFAULT_VIEW } from '../../auth/affiliate-view.ts'
import type { AnswerOf, InputOf } from '../../http/operation.ts'
import type { Page, Values, Visit } from '../page.ts'
import { Badge } from '../parts/data.tsx'
import {
  ACCOUNT_WORDS,
  jurisdictionWords,
  MODES,
  storageWords,
  VERTICALS,
  VIEW_WORDS,
} from '../parts/field-words.ts'
import { Facts, type Pair } from '../parts/fields.tsx'
import { ChangeForm, ConfirmForm } from '../parts/forms.tsx'
import { LatestMove, StartMove } from '../parts/moves.tsx'
import { changedLooks, PortalLooksForm } from '../parts/portal-looks.tsx'
import { changedMembers } from '../parts/schema.ts'
import { SchemaForm } from '../parts/schema-fields.tsx'
import { AccountTabs } from '../parts/tabs.tsx'

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

type AccountChange = Omit<InputOf<typeof changeAccount>, 'account'>

const change = (done: string, changeOf: (values: Values) => AccountChange) => ({
  done,
  perform: (values: Values, { api, account }: Visit) =>
    api.call(changeAccount, { account, ...changeOf(values) }),
})

const StopAccount = ({ visit, account }: { visit: Visit; account: Account }) => (
  <>
    <h2>Stop the account</h2>
    {account.disabled ? (
      <ChangeForm visit={visit} change="enable" submit="Enable the account" />
    ) : (
      <ConfirmForm visit={visit} change="disable" submit="Disable the account" name={visit.account}>
        <p>Its credentials are refused until you enable it again. Nothing is deleted.</p>
      </ConfirmForm>
    )}
    {account.mode === 'test' && (
      <ConfirmForm visit={visit} change="reset" submit="Delete all records" name={visit.account}>
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
    save: change('The settings are saved.', (values) =>
      changedMembers(accountChange, values, ACCOUNT_WORDS),
    ),
    view: change(
      'What affiliates see is saved. It holds from their next request on.',
      (values) => ({ affiliate_view: changedMembers(affiliateViewFields, values) }),
    ),
    pages: change(
      'The pages are saved. Links that were made before stay as they are.',
      (values) => ({ landing_pages: values('landing_pages').split(/\s+/).filter(Boolean) }),
    ),
    looks: change('How the portal looks is saved.', changedLooks),
    start_move: {
      done: 'The account is being moved. This page shows how far it is.',
      perform: (values, { api, account }) => api.call(moveAccount, { account, to: values('to') }),
    },
    cancel_move: {
      done: 'The move is cancelled. The account stays where it is.',
      perform: (values, { api, account }) =>
        api.call(cancelMove, { account, move_id: values('move') }),
    },
    confirm_move: {
      done: 'The old copy is deleted, ten minutes after the switch at the earliest.',
      perform: (values, { api, account }) =>
        api.call(confirmMove, { account, move_id: values('move') }),
    },
    enable: change('The account is enabled.', () => ({ disabled: false })),
    disable: {
      ...change('The account is disabled.', () => ({ disabled: true })),
      confirm: ({ account }) => account,
    },
    reset: {
      done: 'The records are deleted. A large account takes some minutes.',
      confirm: ({ account }) => account,
      perform: (_, { api, account }) => api.call(resetAccount, { account }),
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
        <AccountTabs visit={visit} here="Settings" />
        <Facts
          visit={visit}
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
          visit={visit}
          change="save"
          submit="Save settings"
          schemas={schemasOf(account)}
          words={ACCOUNT_WORDS}
          values={{ book_zone: 'UTC', amount_signs: 'magnitude', ...account, ...account.policies }}
        />
        <h2 id="affiliates">What affiliates see</h2>
        <SchemaForm
          visit={visit}
          change="view"
          submit="Save what affiliates see"
          schemas={affiliateViewFields}
          words={VIEW_WORDS}
          values={{ ...DEFAULT_VIEW, ...account.affiliate_view }}
        />
        <h2 id="landing-pages">Links that affiliates make</h2>
        <ChangeForm
          visit={visit}
          change="pages"
          submit="Save the pages"
          fields={[
            {
              name: 'landing_pages',
              label: 'Pages to which they may lead',
              type: 'area',
              value: (account.landing_pages ?? []).join('\n'),
              hint: 'One address on each line, such as https://acme.example/start. A link may lead to each of these pages, and to all pages below it. Empty: affiliates cannot make links. Your own links may lead anywhere.',
            },
          ]}
        />
        <h2 id="looks">How the portal of affiliates looks</h2>
        <PortalLooksForm visit={visit} looks={account} />
        {move && <LatestMove visit={visit} move={move} />}
        <StartMove visit={visit} account={account} databases={databases} latest={move} />
        <StopAccount visit={visit} account={account} />
      </>
    )
    return { title: 'Settings', body }
  },
}
