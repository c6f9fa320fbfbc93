import { newAccount } from '../../admin/fields.ts'
import type { Feed } from '../../ingest/feed.ts'
import { accountPath, type Page, type Visit } from '../page.ts'
import { count, Data, EmptyState, type List, Pager, Table, Time } from '../parts/data.tsx'
import { refusedPath } from '../parts/deliveries.tsx'
import { Yesterday } from '../parts/feeds.tsx'
import { ChangeForm, Field } from '../parts/forms.tsx'
import { changedMembers } from '../parts/schema.ts'
import { SchemaFields } from '../parts/schema-fields.tsx'

interface AccountFeeds {
  readonly account: string
  readonly name: string
  readonly vertical: string
  readonly feeds: readonly Feed[]
}

const lastOf = (feeds: readonly Feed[]) =>
  feeds
    .map(({ last_delivery_at: at }) => at)
    .filter((at) => at !== null)
    .toSorted()
    .at(-1) ?? null

const sumOf = (feeds: readonly Feed[], name: 'received_last_day' | 'refused_last_day') =>
  feeds.reduce((sum, feed) => sum + feed[name], 0)

/** The states of the activity of yesterday, the worst first. */
const YESTERDAY = ['missing', 'late', 'pending', 'in_time'] as const

const yesterdayOf = (feeds: readonly Feed[]) =>
  YESTERDAY.find((one) => feeds.some(({ yesterday }) => yesterday === one))

const { account, name, vertical, mode, time_zone, ...more } = newAccount
const main = { account, name, vertical, mode, time_zone }

/** Renders the form of a new account. Rare settings are folded. */
const NewAccount = ({ visit }: { visit: Visit }) => (
  <>
    <h2>Create an account</h2>
    <ChangeForm visit={visit} change="create" submit="Create the account">
      <SchemaFields visit={visit} change="create" schemas={main} />
      <details open={visit.refused !== null}>
        <summary>More settings</summary>
        <SchemaFields visit={visit} change="create" schemas={more} />
        <Field
          visit={visit}
          change="create"
          name="binding"
          label="Database"
          hint="The D1 binding of its database. Empty: DB."
        />
      </details>
    </ChangeForm>
  </>
)

/** The list of accounts: the home page. */
export const accountsPage: Page = {
  path: '',
  query: ['cursor'],
  changes: {
    create: {
      done: 'The account was created. Next, issue its credentials.',
      next: (answer) => accountPath((answer as AccountFeeds).account, 'credentials'),
      request: (values) => ({
        method: 'POST',
        path: '/accounts',
        body: {
          ...changedMembers(newAccount, values),
          ...(values('binding') !== '' && { binding: values('binding') }),
        },
      }),
    },
  },
  async render(visit) {
    const { data, meta } = await visit.api.get<List<AccountFeeds>>('/feeds', visit.query)
    const body = (
      <>
        <Table
          caption="Accounts and how recent their data is"
          rows={data}
          columns={[
            {
              title: 'Account',
              cell: ({ account, name }) => (
                <>
                  <a href={accountPath(account)}>
                    <Data text={name} />
                  </a>{' '}
                  <small>{account}</small>
                </>
              ),
            },
            { title: 'Vertical', cell: ({ vertical }) => vertical },
            { title: 'Last delivery', cell: ({ feeds }) => <Time at={lastOf(feeds)} /> },
            {
              title: 'Records in 24 hours',
              isNumeric: true,
              cell: ({ feeds }) => count(sumOf(feeds, 'received_last_day')),
            },
            {
              title: 'Refused in 24 hours',
              isNumeric: true,
              cell: ({ account, feeds }) => (
                <a href={refusedPath({ account, now: visit.now }, [1, 0])}>
                  {count(sumOf(feeds, 'refused_last_day'))}
                </a>
              ),
            },
            {
              title: 'Activity of yesterday',
              cell: ({ feeds }) => <Yesterday yesterday={yesterdayOf(feeds)} />,
            },
          ]}
          empty={
            <EmptyState title="There are no accounts yet.">
              <p>Create the first one below.</p>
            </EmptyState>
          }
        />
        <Pager visit={visit} meta={meta} />
        <NewAccount visit={visit} />
      </>
    )
    return { title: 'Accounts', body }
  },
}
