import { REASONS } from '../../commission/engine/reasons.ts'
import type { UnearnedGroup, UnearnedRecord } from '../../commission/engine/unearned.ts'
import { apiPath, type Page, type Visit } from '../page.ts'
import { EmptyState, type List, Pager, Table } from '../parts/data.tsx'
import { DeferredPart } from '../parts/deferred.tsx'
import { AccountLink, column, fields, Members } from '../parts/fields.tsx'
import { Filters } from '../parts/forms.tsx'

const NOTHING = <EmptyState title="No unearned records in this selection." />

/** Returns the type of transactions, or the name of events. */
const nameOf = ({
  transaction_type,
  eventname,
}: Pick<UnearnedGroup, 'transaction_type' | 'eventname'>) => transaction_type ?? eventname ?? ''

const Groups = ({ visit, groups }: { visit: Visit; groups: readonly UnearnedGroup[] }) => (
  <Table
    caption="What earned nothing, by reason. Select a number to list the records."
    rows={groups}
    columns={[
      ...fields<UnearnedGroup>(visit, 'reason', 'resource'),
      column('Type or event', nameOf),
      ...fields<UnearnedGroup>(visit, 'plan', 'version', 'rule', 'condition'),
      column('Sums', ({ sums, currency }: UnearnedGroup) => (
        <Members object={{ ...sums, currency }} />
      )),
      column(
        'Records',
        ({ reason, count }: UnearnedGroup) => {
          const query = { ...visit.query, reason, list: 'records' }
          return <AccountLink visit={visit} at={['unearned']} query={query} children={count} />
        },
        true,
      ),
    ]}
    empty={NOTHING}
  />
)

const Records = ({ visit, rows }: { visit: Visit; rows: readonly UnearnedRecord[] }) => (
  <Table
    caption="Records that earned nothing"
    rows={rows}
    columns={[
      ...fields<UnearnedRecord>(visit, 'id', 'resource'),
      column('Type or event', nameOf),
      ...fields<UnearnedRecord>(visit, 'day', 'customer_id', 'affiliate_id'),
      ...fields<UnearnedRecord>(visit, 'reason', 'plan', 'rule', 'condition'),
      column('As sent', ({ amounts, currency }: UnearnedRecord) => (
        <Members object={{ ...amounts, currency }} />
      )),
    ]}
    empty={NOTHING}
  />
)

const NO_PERIOD = (
  <EmptyState title="Choose a period.">
    <p>A month such as 2026-10, or a week such as 2026-W41.</p>
  </EmptyState>
)

/** Computes and renders what earned nothing: the groups, or their records. */
async function renderUnearned(visit: Visit) {
  const { list, cursor, ...query } = visit.query
  if (list !== 'records') {
    const path = apiPath(visit.account, 'unearned')
    const { data } = await visit.api.get<{ data: readonly UnearnedGroup[] }>(path, query)
    return (
      <>
        <p class="note">
          <a href="/docs/statements#what-earned-nothing">What each reason means</a>
        </p>
        <Groups visit={visit} groups={data} />
      </>
    )
  }
  const path = apiPath(visit.account, 'unearned', 'facts')
  const { data, meta } = await visit.api.get<List<UnearnedRecord>>(path, { ...query, cursor })
  return (
    <>
      <Records visit={visit} rows={data} />
      <Pager visit={visit} meta={meta} />
    </>
  )
}

/** The records of a period that earned nothing, and why. */
export const unearnedPage: Page = {
  path: '/accounts/:account/unearned',
  section: 'Statements',
  query: ['period', 'affiliate_id', 'customer_id', 'reason', 'list', 'cursor'],
  async render(visit) {
    const reasons = ['', ...REASONS].map((one) => [one, one.replaceAll('_', ' ') || 'any'] as const)
    const body = (
      <>
        <Filters
          visit={visit}
          fields={[
            { name: 'period', required: true },
            { name: 'affiliate_id' },
            { name: 'customer_id' },
            { name: 'reason', options: reasons },
            {
              name: 'list',
              label: 'Show',
              options: [
                ['', 'groups'],
                ['records', 'records'],
              ],
            },
          ]}
        />
        {visit.query.period ? <DeferredPart /> : NO_PERIOD}
      </>
    )
    const computeDeferred = visit.query.period ? () => renderUnearned(visit) : undefined
    return { title: 'What earned nothing', body, computeDeferred }
  },
}
