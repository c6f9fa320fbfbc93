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
import { signUpForm } from '../../people/sign-up-fields.ts'
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
  sign_up: _signUp,
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
  shows: 'account',
  section: 'Account',
  changes: {
    save: calling(changeAccount, 'The settings are saved.'),
    view: calling(
      changeAccount,
      'What affiliates see is saved. It holds from their next request on.',
      (values) => ({ affiliate_view: changedMembers(affiliateViewFields, values) }),
    ),
    sign_up: calling(changeAccount, 'How affiliates apply is saved.', (values) => {
      const { terms_version, terms_url, terms_text, ...sent } = changedMembers(signUpForm, values)
      const isNew = [terms_version, terms_url, terms_text].some((one) => one !== undefined)
      const [url, text] = [values('terms_url').trim(), values('terms_text').trim()]
      const version = values('terms_version').trim()
      const terms = url === '' ? { version, text } : { version, url, ...(text && { text }) }
      return { sign_up: { ...sent, ...(isNew && { terms }) } }
    }),
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
        <h2 id="sign-up">How affiliates apply</h2>
        <p class="note">
          Anybody can apply on the{' '}
          <a href={`/portal/${encodeURIComponent(visit.account)}/join`}>page of the portal</a> while
          it is open. You decide in Applications. Whom you approve gets the plan that is named here,
          or else the one for all.
        </p>
        <SchemaForm
          change="sign_up"
          submit="Save how affiliates apply"
          at="/sign_up"
          schemas={signUpForm}
          values={{
            ...account.sign_up,
            ...Object.fromEntries(
              Object.entries(account.sign_up.terms ?? {}).map(([name, one]) => [
                `terms_${name}`,
                one,
              ]),
            ),
          }}
        />
        <StopAccount account={account} />
      </>
    )
    return { title: 'Settings', body }
  },
}
