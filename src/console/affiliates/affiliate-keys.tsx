import {
  endAffiliateKey,
  listAffiliateKeys,
  makeAffiliateKey,
} from '../../affiliates/operations/affiliate-keys.ts'
import { calling } from '../../pages/calling.ts'
import type { Page } from '../../pages/page.ts'
import { Badge, Data, Day, EmptyState, isolated, Time } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm, type Option } from '../../pages/parts/forms.tsx'
import { affiliateText } from '../../pages/parts/names.tsx'
import { secretOf } from '../../pages/parts/rotation.tsx'
import { Table } from '../../pages/parts/table.tsx'

/** The most keys that an affiliate can have at once. */
const MOST = 5

const SCOPES: readonly Option[] = [
  ['read', 'Only read'],
  ['read links', 'Read, make links and postbacks, and ask'],
]

/** The keys of an affiliate. */
export const affiliateKeysPage: Page = {
  path: '/accounts/:account/affiliates/:affiliate_id/keys',
  section: 'Affiliates',
  changes: {
    make: calling(makeAffiliateKey, secretOf('The key is made.', 'affiliate_key')),
    end: calling(endAffiliateKey, 'The key has ended.'),
  },
  async render(visit) {
    const { api, account, params } = visit
    const affiliate_id = params.affiliate_id ?? ''
    const { data } = await api.call(listAffiliateKeys, { account, affiliate_id })
    const alive = data.filter((key) => key.alive)
    const keys = alive.map(({ id, name }): Option => [id, isolated(name)])
    const body = (
      <>
        <p class="quick">
          <AccountLink at={['affiliates', affiliate_id]}>Back to the affiliate</AccountLink>
        </p>
        <Table
          caption="Keys"
          rows={data.toReversed()}
          columns={{
            Name: ({ name }) => <Data text={name} />,
            May: ({ scope }) => SCOPES.find(([value]) => value === scope)?.[1] ?? scope,
            State: (key) => (
              <Badge tone={key.alive ? 'good' : 'quiet'}>{key.alive ? 'works' : 'ended'}</Badge>
            ),
            Ends: ({ ends_at }) => (ends_at ? <Time at={ends_at} /> : '–'),
            'Last used': ({ last_used_on }) => <Day day={last_used_on} />,
            Made: 'created_at',
            By: ({ created_by }) => <Data text={created_by} />,
          }}
          empty={
            <EmptyState title="The affiliate has no keys.">
              <p>With a key, a program of the affiliate reads what the affiliate earns, and why.</p>
            </EmptyState>
          }
        />
        {alive.length < MOST && (
          <>
            <h2>Make a key</h2>
            <ChangeForm
              change="make"
              submit="Make the key"
              needs="approver"
              fields={[
                {
                  name: 'name',
                  label: 'What it is for',
                  required: true,
                  placeholder: 'Tracker of the affiliate',
                },
                { name: 'scope', label: 'It may', options: SCOPES },
              ]}
            >
              <p class="note">The key is shown once, after you have made it.</p>
            </ChangeForm>
          </>
        )}
        {alive.length > 0 && (
          <FoldedForm
            change="end"
            title="End a key"
            submit="End the key"
            needs="approver"
            isDanger
            fields={[{ name: 'key_id', label: 'Key', options: keys }]}
          >
            <p>Requests with it are refused at once. This cannot be undone.</p>
          </FoldedForm>
        )}
      </>
    )
    return { title: `Keys of ${await affiliateText(visit, affiliate_id)}`, body }
  },
}
