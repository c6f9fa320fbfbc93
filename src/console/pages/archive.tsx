import { archiveDue, archiveMonth, listArchives, loadMonth } from '../../admin/archives.ts'
import { ARCHIVE_AFTER } from '../../archive/limits.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { type Page, useVisit } from '../page.ts'
import {
  Badge,
  count,
  Data,
  EmptyState,
  type List,
  Live,
  NOTHING,
  Pager,
  periodWords,
  Table,
  Time,
} from '../parts/data.tsx'
import { storageWords } from '../parts/field-words.ts'
import { ChangeForm, type Option } from '../parts/forms.tsx'
import { AccountTabs } from '../parts/tabs.tsx'

/** The months that a page lists. */
const PAGE_SIZE = 100

type ArchivedMonth = AnswerOf<typeof listArchives>['data'][number]

const STATES: Readonly<Record<ArchivedMonth['state'], string>> = {
  leaving: 'leaves the database',
  archived: 'in the archive',
  loading: 'comes back',
}

const State = ({ month: { state, damaged_object: object } }: { month: ArchivedMonth }) =>
  object === null ? (
    STATES[state]
  ) : (
    <>
      <Badge tone="bad">damaged</Badge> A file is damaged or missing. Tell the engineers; “A damaged
      archive” of the runbook says how to put this file back: <Data text={object} />
    </>
  )

const ArchivedMonths = ({ list }: { list: List<ArchivedMonth> }) => (
  <Live
    id="archived-months"
    seconds={list.data.some(({ state }) => state !== 'archived') ? 10 : null}
  >
    <Table
      caption="Months in the archive"
      rows={list.data}
      columns={[
        { title: 'Month', cell: ({ month }) => periodWords(month) },
        { title: 'Records', isNumeric: true, cell: ({ records }) => count(records) },
        { title: 'Size', isNumeric: true, cell: ({ bytes }) => storageWords(bytes) },
        { title: 'State', isProse: true, cell: (month) => <State month={month} /> },
        {
          title: 'Archived',
          cell: ({ archived_at }) => (archived_at === null ? NOTHING : <Time at={archived_at} />),
        },
      ]}
      empty={
        <EmptyState title="No month is in the archive.">
          <p>All records of the account are in its database.</p>
        </EmptyState>
      }
    />
    {list.data.length > 0 && <Pager meta={list.meta} />}
  </Live>
)

/** The oldest month that the form offers, in months before the current one. */
const OLDEST = 60

/** Returns the months that may be old enough to leave, the latest first. */
function pastMonths(today: number): Option[] {
  const now = new Date(today)
  return Array.from({ length: OLDEST - ARCHIVE_AFTER.least }, (_, i) => {
    const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ARCHIVE_AFTER.least - i)
    const month = new Date(first).toISOString().slice(0, 'YYYY-MM'.length)
    return [month, periodWords(month)]
  })
}

/** Renders the forms that archive months, and the one that loads a month, if any can come back. */
function Forms({ months }: { months: readonly ArchivedMonth[] }, visit = useVisit()) {
  const loadable = months.filter(({ state }) => state !== 'loading')
  return (
    <>
      <h2 id="archive">Archive months</h2>
      <ChangeForm
        change="archive"
        submit="Archive the month"
        fields={[{ name: 'month', label: 'Month', options: pastMonths(visit.today) }]}
      />
      <ChangeForm change="due" submit="Archive every month that may go" />
      {loadable.length > 0 && (
        <>
          <h2 id="load">Load a month</h2>
          <ChangeForm
            change="load"
            submit="Load the month"
            fields={[
              {
                name: 'month',
                label: 'Month',
                options: loadable.map(({ month }) => [month, periodWords(month)] as const),
              },
            ]}
          />
        </>
      )}
    </>
  )
}

/** The months of an account whose trading activity or daily events have left the database for files. */
export const archivePage: Page = {
  path: '/accounts/:account/archive',
  section: 'Account',
  query: ['cursor'],
  changes: {
    archive: {
      done: 'The month leaves the database. The list shows how far it is.',
      perform: (values, { api, account }) =>
        api.call(archiveMonth, { account, month: values('month') }),
    },
    due: {
      done: 'Every month that may go leaves the database. `archive due` says what keeps the others.',
      perform: (_, { api, account }) => api.call(archiveDue, { account }),
    },
    load: {
      done: 'The month comes back. The list shows how far it is.',
      perform: (values, { api, account }) =>
        api.call(loadMonth, { account, month: values('month') }),
    },
  },
  async render(visit) {
    const { api, account, query } = visit
    const list = await api.call(listArchives, {
      ...{ account, cursor: query.cursor, per_page: PAGE_SIZE },
    })
    const body = (
      <>
        <AccountTabs here="Archive" />
        <p class="lead">
          Trading activity and daily events of an old month, which is approved and exported, can
          leave the database for files, which cost less. Totals, statements, bookings and customers
          stay. Until the month is loaded, nothing of it can be changed or computed again.
        </p>
        <ArchivedMonths list={list} />
        <Forms months={list.data} />
      </>
    )
    return { title: 'Archive', body }
  },
}
