import { archiveMonth, getKeptMonths, listArchives, restoreMonth } from '../../admin/archives.ts'
import type { AnswerOf } from '../../http/operation.ts'
import type { Page, Visit } from '../page.ts'
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
  Sentence,
  Table,
  Time,
} from '../parts/data.tsx'
import { storageWords } from '../parts/field-words.ts'
import { AccountLink, Facts, type Pair } from '../parts/fields.tsx'
import { ChangeForm, type Option } from '../parts/forms.tsx'
import { plainWords } from '../parts/plain-words.ts'
import { AccountTabs } from '../parts/tabs.tsx'

/** The months of resources that a page lists. */
const PAGE_SIZE = 100

type ArchivedMonth = AnswerOf<typeof listArchives>['data'][number]
type KeptMonths = AnswerOf<typeof getKeptMonths>

/** What the records of a resource are: one, and several. */
const RECORDS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  transactions: ['transaction', 'transactions'],
  'trading-activity': ['record of trading activity', 'records of trading activity'],
  activities: ['activity', 'activities'],
}

const recordsText = (resource: string, records: number): string => {
  const [one, several] = RECORDS[resource] ?? [resource, resource]
  return `${count(records)} ${records === 1 ? one : several}`
}

const resourceText = (resource: string): string => RECORDS[resource]?.[1] ?? resource

/** Returns what is in the archive: `12,340 transactions`. */
const contentOf = ({ resource, records }: ArchivedMonth): string =>
  records === null ? resourceText(resource) : recordsText(resource, records)

const STATES: Readonly<Record<ArchivedMonth['state'], string>> = {
  being_archived: 'leaves the database',
  archived: 'in the archive',
  being_restored: 'comes back',
}

const State = ({ month }: { month: ArchivedMonth }) => {
  const { state, damaged_object: object } = month
  if (object === null) return STATES[state]
  // No file is damaged: those of the month were not used.
  if (object === 'control totals') {
    return (
      <>
        <Badge tone="bad">stays</Badge> Its files do not have the sums of its days, so its records
        stay in the database. Tell the engineers.
      </>
    )
  }
  return (
    <>
      <Badge tone="bad">damaged</Badge> A file is damaged or missing, and the records cannot come
      back before it is repaired. Tell the engineers; “A damaged archive” of the runbook says how to
      put this file back: <Data text={object} />
    </>
  )
}

const ArchivedMonths = ({ visit, list }: { visit: Visit; list: List<ArchivedMonth> }) => (
  <Live
    id="archived-months"
    seconds={list.data.some(({ state }) => state !== 'archived') ? 10 : null}
  >
    <Table
      caption="Months in the archive"
      rows={list.data}
      columns={[
        { title: 'Month', cell: ({ month }) => periodWords(month) },
        { title: 'Records', cell: contentOf },
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
    {list.data.length > 0 && <Pager visit={visit} meta={list.meta} />}
  </Live>
)

/** Returns a choice of months, each with what it has. */
function monthOptions<Row extends { month: string }>(
  rows: readonly Row[],
  contentsOf: (row: Row) => string,
): readonly Option[] {
  const months = Map.groupBy(rows, ({ month }) => month)
  return [...months].map(([month, all]) => [
    month,
    `${periodWords(month)}: ${all.map(contentsOf).join(', ')}`,
  ])
}

/** Renders the form that brings a month back; nothing if no month can come back. */
function Restore({ visit, months }: { visit: Visit; months: readonly ArchivedMonth[] }) {
  const options = monthOptions(
    months.filter(({ state }) => state !== 'being_restored'),
    contentOf,
  )
  if (options.length === 0) return null
  return (
    <>
      <h2 id="restore">Bring a month back</h2>
      <ChangeForm
        visit={visit}
        change="restore"
        submit="Bring the month back"
        fields={[{ name: 'month', label: 'Month', options }]}
      >
        <p>
          What needs old records has them brought back by itself. This is for looking at many of
          them: they are in the database within minutes, and stay for 30 days.
        </p>
      </ChangeForm>
    </>
  )
}

/** Months one after another that have the same records, and stay for the same reason. */
interface Span {
  readonly first: string
  readonly last: string
  readonly content: string
  readonly reason: string | null
}

/** Returns the number of a month such as `2024-03` among all months. */
const monthNumber = (month: string): number => {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return year * 12 + number
}

/** Joins months one after another that differ in nothing else. They come in their order. */
function spansOf(kept: KeptMonths['data']): Span[] {
  const groups = Map.groupBy(kept, ({ month, reason }) => JSON.stringify([month, reason]))
  const spans: Span[] = []
  for (const group of groups.values()) {
    const [{ month, reason } = { month: '', reason: null }] = group
    const content = group.map(({ resource }) => resourceText(resource)).join(', ')
    const before = spans.at(-1)
    const goesOn =
      before?.content === content &&
      before.reason === reason &&
      monthNumber(month) === monthNumber(before.last) + 1
    if (goesOn) spans.pop()
    spans.push({ first: goesOn ? before.first : month, last: month, content, reason })
  }
  return spans
}

const spanWords = ({ first, last }: Span): string =>
  first === last ? periodWords(first) : `${periodWords(first)} to ${periodWords(last)}`

/** Renders the older months that are in the database, and what keeps each there. */
function Kept({ visit, kept }: { visit: Visit; kept: KeptMonths }) {
  if (kept.data.length === 0) return null
  const ready = kept.data.filter(({ reason }) => reason === null)
  const options = monthOptions(ready, ({ resource }) => resourceText(resource))
  return (
    <>
      <h2 id="kept">Old months in the database</h2>
      <Table
        caption="Months that are old enough, and what keeps them in the database"
        rows={spansOf(kept.data)}
        columns={[
          { title: 'Months', cell: spanWords },
          { title: 'Records', cell: ({ content }) => content },
          {
            title: 'Why they stay',
            isProse: true,
            cell: ({ reason }) =>
              reason === null ? (
                'They leave soon: some months leave each day.'
              ) : (
                <Sentence text={plainWords(reason)} />
              ),
          },
        ]}
      />
      {options.length > 0 && (
        <ChangeForm
          visit={visit}
          change="archive"
          submit="Archive the month now"
          fields={[{ name: 'month', label: 'Month', options }]}
        />
      )}
    </>
  )
}

/** Returns what reads records of more days than the setting keeps, as a link; null if nothing does. */
function readerOf(visit: Visit, { plan, fraud_rule }: NonNullable<KeptMonths['kept_for']>) {
  const [section, id] = plan === null ? ['fraud-rules', fraud_rule ?? ''] : ['plans', plan]
  return <AccountLink visit={visit} at={[section, id]} children={<Data text={id} />} />
}

/** Returns which records are in the database, and for what they are kept longer. */
function factsOf(visit: Visit, { archive_after, first_month, kept_for }: KeptMonths): Pair[] {
  const facts: (Pair | null)[] = [
    [
      'Records leave after',
      <AccountLink visit={visit} at={['account']}>
        {archive_after === null ? 'never' : `${archive_after} months`}
      </AccountLink>,
    ],
    first_month === null ? null : ['In the database at least from', periodWords(first_month)],
    kept_for === null
      ? null
      : [
          'Kept longer for',
          <>
            {readerOf(visit, kept_for)}, which looks back {count(kept_for.days)} days
          </>,
        ],
  ]
  return facts.filter((fact) => fact !== null)
}

/** The months of an account whose records have left the database for files. */
export const archivePage: Page = {
  path: '/accounts/:account/archive',
  section: 'Account',
  query: ['cursor'],
  changes: {
    restore: {
      done: 'The month comes back within minutes. The list below shows how far it is.',
      perform: (values, { api, account }) =>
        api.call(restoreMonth, { account, month: values('month') }),
    },
    archive: {
      done: 'The month leaves the database within half an hour. The list below has it once it has begun.',
      perform: (values, { api, account }) =>
        api.call(archiveMonth, { account, month: values('month') }),
    },
  },
  async render(visit) {
    const { api, account, query } = visit
    const [list, kept] = await Promise.all([
      api.call(listArchives, { account, cursor: query.cursor, per_page: PAGE_SIZE }),
      api.call(getKeptMonths, { account }),
    ])
    const body = (
      <>
        <AccountTabs visit={visit} here="Archive" />
        <p class="lead">
          Records of old months, whose statements are approved, leave the database for files, which
          cost less. Totals, statements, bookings and customers stay, and no figure changes.
        </p>
        <Facts visit={visit} row={{}} names={[]} more={factsOf(visit, kept)} />
        <ArchivedMonths visit={visit} list={list} />
        <Restore visit={visit} months={list.data} />
        <Kept visit={visit} kept={kept} />
      </>
    )
    return { title: 'Archive', body }
  },
}
