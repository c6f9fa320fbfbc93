import { changeAccount, getAccount, resetAccount } from '../../accounts/accounts.ts'
import { accountChange } from '../../accounts/fields.ts'
import { affiliateViewFields } from '../../affiliates/view-fields.ts'
import type { Page } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Badge } from '../../pages/parts/data.tsx'
import { storageWords } from '../../pages/parts/field-words.ts'
import { Facts } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm } from '../../pages/parts/forms.tsx'
import { changedMembers } from '../../pages/parts/schema.ts'
import { SchemaForm } from '../../pages/parts/schema-fields.tsx'
import { AccountTabs } from '../../pages/parts/tabs.tsx'
import { DEFAULT_VIEW } from '../../platform/auth/affiliate-view.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'

type Account = AnswerOf<typeof getAccount>

const {
  disabled: _disabled,
  affiliate_view: _view,
  journal_accounts: _accounts,
  storage_quota: _quota,
  self_billing: _billing,
  invoicing: _invoicing,
  ...settings
} = accountChange

const StopAccount = ({ account }: { account: Account }) => (
  <>
    <h2>Stop the account</h2>
    {account.disabled ? (
      <ChangeForm change="enable" submit="Enable the account" />
    ) : (
      <FoldedForm change="disable" submit="Disable the account" isDanger>
        <p>Its credentials are refused until you enable it again. Nothing is deleted.</p>
      </FoldedForm>
    )}
    {account.mode === 'test' && (
      <FoldedForm change="reset" submit="Delete all records" isDanger>
        <p>
          Permanently deletes every record, statement, payment and webhook of this test account.
        </p>
      </FoldedForm>
    )}
  </>
)

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
    enable: calling(changeAccount, 'The account is enabled.', () => ({ disabled: false })),
    disable: {
      ...calling(changeAccount, 'The account is disabled.', () => ({ disabled: true })),
    },
    reset: {
      ...calling(resetAccount, 'The records are deleted. A large account takes some minutes.'),
    },
  },
  async render(visit) {
    const account = await visit.api.call(getAccount, { account: visit.account })
    const { storage_bytes: stored, storage_quota: quota } = account
    const body = (
      <>
        <AccountTabs here="Settings" />
        <Facts
          row={account}
          names={['account', 'vertical', 'mode', 'jurisdiction', 'created_at']}
          more={[
            ['Credentials', account.disabled ? <Badge tone="bad">disabled</Badge> : 'accepted'],
            ['Storage', `${storageWords(stored)} of ${storageWords(quota)}`],
          ]}
        />
        <SchemaForm
          change="save"
          submit="Save settings"
          schemas={settings}
          values={{ ...account, ...account.policies }}
        />
        <h2 id="affiliates">What affiliates see</h2>
        <SchemaForm
          change="view"
          submit="Save what affiliates see"
          schemas={affiliateViewFields}
          values={{ ...DEFAULT_VIEW, ...account.affiliate_view }}
        />
        <StopAccount account={account} />
      </>
    )
    return { title: 'Settings', body }
  },
}
