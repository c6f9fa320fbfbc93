import { accountPath, apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { Badge, Data, Day, EmptyState, Name, Table, Time } from '../parts/data.tsx'
import { AccountLink, column } from '../parts/fields.tsx'
import { ChangeForm, ConfirmForm, type Option } from '../parts/forms.tsx'
import { affiliateText } from '../parts/names.tsx'
import { secretOf } from '../parts/rotation.tsx'

interface Key {
  readonly id: string
  readonly name: string
  readonly scope: string
  readonly alive: boolean
  readonly ends_at: string | null
  readonly created_at: string
  readonly created_by: string
  readonly last_used_on: string | null
}

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

const affiliateOf = ({ params }: Visit): string => params.affiliate ?? ''

/** Returns the path of the keys in the API. An id can be `..`, so it is sent in the query. */
const keysPath = ({ account }: Visit, ...more: readonly string[]) =>
  apiPath(account, 'affiliates', 'keys', ...more)

const Keys = ({ visit, rows }: { visit: Visit; rows: readonly Key[] }) => (
  <Table
    caption="Keys"
    rows={rows}
    columns={[
      column('Name', (row: Key) =>
        row.alive ? (
          <a href={withQuery(visit.path, { key: row.id })}>
            <Name text={row.name} />
          </a>
        ) : (
          <Data text={row.name} />
        ),
      ),
      column('May', scopeWords),
      column('State', ({ alive }: Key) => (
        <Badge tone={alive ? 'good' : 'quiet'}>{alive ? 'works' : 'ended'}</Badge>
      )),
      column('Ends', ({ ends_at }: Key) => (ends_at ? <Time at={ends_at} /> : '–')),
      column('Last used', ({ last_used_on }: Key) =>
        last_used_on ? <Day day={last_used_on} /> : 'not yet',
      ),
      column('Made', ({ created_at }: Key) => <Time at={created_at} />),
      column('By', ({ created_by }: Key) => <Data text={created_by} />),
    ]}
    empty={
      <EmptyState title="The affiliate has no keys.">
        <p>With a key, a program of the affiliate reads what the affiliate earns, and why.</p>
      </EmptyState>
    }
  />
)

/** Renders the form that makes a key: another one, or one that replaces the one that the address selects. */
function MakeForm({ visit, rows, chosen }: { visit: Visit; rows: readonly Key[]; chosen?: Key }) {
  const isFull = rows.filter(({ alive }) => alive).length >= MOST
  if (isFull && !chosen) {
    return <p class="note">There are {MOST} keys, which is the most. Choose one to end it.</p>
  }
  const replaced = chosen && [{ name: 'overlap', label: 'The old key', options: OVERLAPS }]
  return (
    <>
      <h2>{chosen ? 'Replace it' : 'Make a key'}</h2>
      <ChangeForm
        visit={visit}
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
  path: '/accounts/:account/affiliates/:affiliate/keys',
  section: 'Affiliates',
  hasNames: true,
  query: ['key'],
  changes: {
    make: {
      done,
      request: (values, visit) => ({
        method: 'POST',
        path: keysPath(visit),
        query: { affiliate_id: affiliateOf(visit) },
        body: { name: values('name').trim(), scope: values('scope') },
      }),
    },
    replace: {
      done,
      request: (values, visit) => ({
        method: 'POST',
        path: keysPath(visit),
        query: { affiliate_id: affiliateOf(visit) },
        body: {
          ...{ name: values('name').trim(), scope: values('scope') },
          ...{ replaces: visit.query.key, overlap: values('overlap') },
        },
      }),
    },
    end: {
      done: 'The key has ended.',
      confirm: affiliateOf,
      next: (_, visit) => accountPath(visit.account, 'affiliates', affiliateOf(visit), 'keys'),
      request: (_, visit) => ({
        method: 'DELETE',
        path: keysPath(visit, visit.query.key ?? ''),
        query: { affiliate_id: affiliateOf(visit) },
      }),
    },
  },
  async render(visit) {
    const affiliate_id = affiliateOf(visit)
    const { data } = await visit.api.get<{ data: Key[] }>(keysPath(visit), { affiliate_id })
    const chosen = data.find(({ id, alive }) => alive && id === visit.query.key)
    const body = (
      <>
        <p class="quick">
          <AccountLink visit={visit} at={['affiliates', affiliate_id]}>
            Back to the affiliate
          </AccountLink>
          {chosen && <a href={visit.path}>All keys</a>}
        </p>
        {chosen ? (
          <>
            <Keys visit={visit} rows={[chosen]} />
            <MakeForm visit={visit} rows={data} chosen={chosen} />
            <h2>End it</h2>
            <ConfirmForm
              visit={visit}
              change="end"
              submit="End the key"
              needs="approver"
              name={affiliate_id}
            >
              <p>Requests with it are refused at once. This cannot be undone.</p>
            </ConfirmForm>
          </>
        ) : (
          <>
            <Keys visit={visit} rows={data.toReversed()} />
            <MakeForm visit={visit} rows={data} />
          </>
        )}
      </>
    )
    return { title: `Keys of ${await affiliateText(visit, affiliate_id)}`, body }
  },
}
