import { endAffiliateKey, listAffiliateKeys, makeAffiliateKey } from '../../admin/affiliate-keys.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { calling } from '../calling.ts'
import { accountPath, type Page, useVisit, type Visit, withQuery } from '../page.ts'
import { Badge, Data, Day, EmptyState, Name, Time } from '../parts/data.tsx'
import { AccountLink } from '../parts/fields.tsx'
import { ChangeForm, ConfirmForm, type Option } from '../parts/forms.tsx'
import { affiliateText } from '../parts/names.tsx'
import { secretOf } from '../parts/rotation.tsx'
import { Table } from '../parts/table.tsx'

type Key = AnswerOf<typeof listAffiliateKeys>['data'][number]

/** The most keys that an affiliate can have at once. */
const MOST = 5

const SCOPES: readonly Option[] = [
  ['read', 'Only read'],
  ['read links', 'Read, make links and postbacks, and ask'],
]

const scopeWords = ({ scope }: Key): string =>
  SCOPES.find(([value]) => value === scope)?.[1] ?? scope

const OVERLAPS: readonly Option[] = [
  ['24h', 'Works for another 24 hours'],
  ['7d', 'Works for another 7 days'],
  ['1h', 'Works for another hour'],
  ['none', 'Ends at once'],
]

const affiliateOf = ({ params }: Visit): string => params.affiliate_id ?? ''

const Keys = ({ rows }: { rows: readonly Key[] }, visit = useVisit()) => (
  <Table
    caption="Keys"
    rows={rows}
    columns={{
      Name: (row) =>
        row.alive ? (
          <a href={withQuery(visit.path, { key_id: row.id })}>
            <Name text={row.name} />
          </a>
        ) : (
          <Data text={row.name} />
        ),
      May: scopeWords,
      State: ({ alive }) => (
        <Badge tone={alive ? 'good' : 'quiet'}>{alive ? 'works' : 'ended'}</Badge>
      ),
      Ends: ({ ends_at }) => (ends_at ? <Time at={ends_at} /> : '–'),
      'Last used': ({ last_used_on }) => (last_used_on ? <Day day={last_used_on} /> : 'not yet'),
      Made: 'created_at',
      By: ({ created_by }) => <Data text={created_by} />,
    }}
    empty={
      <EmptyState title="The affiliate has no keys.">
        <p>With a key, a program of the affiliate reads what the affiliate earns, and why.</p>
      </EmptyState>
    }
  />
)

/** Renders the form that makes a key: another one, or one that replaces the one that the address selects. */
function MakeForm({ rows, chosen }: { rows: readonly Key[]; chosen?: Key }) {
  const isFull = rows.filter(({ alive }) => alive).length >= MOST
  if (isFull && !chosen) {
    return <p class="note">There are {MOST} keys, which is the most. Choose one to end it.</p>
  }
  const replaced = chosen && [{ name: 'overlap', label: 'The old key', options: OVERLAPS }]
  return (
    <>
      <h2>{chosen ? 'Replace it' : 'Make a key'}</h2>
      <ChangeForm
        change={chosen ? 'replace' : 'make'}
        submit={chosen ? 'Replace the key' : 'Make the key'}
        needs="approver"
        fields={[
          {
            name: 'name',
            label: 'What it is for',
            required: true,
            value: chosen?.name,
            placeholder: 'Tracker of the affiliate',
          },
          { name: 'scope', label: 'It may', value: chosen?.scope, options: SCOPES },
          ...(replaced ?? []),
        ]}
      >
        <p class="note">The key is shown once, after you have made it.</p>
      </ChangeForm>
    </>
  )
}

const done = secretOf('The key is made.', 'affiliate_key')

/** The keys of an affiliate. */
export const affiliateKeysPage: Page = {
  path: '/accounts/:account/affiliates/:affiliate_id/keys',
  section: 'Affiliates',
  query: ['key_id'],
  changes: {
    make: calling(makeAffiliateKey, done),
    replace: calling(makeAffiliateKey, done, (_, { query }) => ({ replaces: query.key_id })),
    end: {
      ...calling(endAffiliateKey, 'The key has ended.'),
      confirm: affiliateOf,
      next: (_, visit) => accountPath(visit.account, 'affiliates', affiliateOf(visit), 'keys'),
    },
  },
  async render(visit) {
    const affiliate_id = affiliateOf(visit)
    const { data } = await visit.api.call(listAffiliateKeys, {
      account: visit.account,
      affiliate_id,
    })
    const chosen = data.find(({ id, alive }) => alive && id === visit.query.key_id)
    const body = (
      <>
        <p class="quick">
          <AccountLink at={['affiliates', affiliate_id]}>Back to the affiliate</AccountLink>
          {chosen && <a href={visit.path}>All keys</a>}
        </p>
        {chosen ? (
          <>
            <Keys rows={[chosen]} />
            <MakeForm rows={data} chosen={chosen} />
            <h2>End it</h2>
            <ConfirmForm change="end" submit="End the key" needs="approver" name={affiliate_id}>
              <p>Requests with it are refused at once. This cannot be undone.</p>
            </ConfirmForm>
          </>
        ) : (
          <>
            <Keys rows={data.toReversed()} />
            <MakeForm rows={data} />
          </>
        )}
      </>
    )
    return { title: `Keys of ${await affiliateText(visit, affiliate_id)}`, body }
  },
}
