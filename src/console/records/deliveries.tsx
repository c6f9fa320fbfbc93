import { getAccount } from '../../accounts/accounts.ts'
import { listDeliveries } from '../../ingest/operations/deliveries.ts'
import type { Page, Visit } from '../../pages/base/page.ts'
import { count, EmptyState, isolated, Live, Pager } from '../../pages/parts/data.tsx'
import { DeliveryBadge, resourceTitle } from '../../pages/parts/deliveries.tsx'
import { Filters, type Option } from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { RecordHistory, toDelivery } from './record-history.tsx'

const LIVE_SECONDS = 10

const option = (name: string): Option => [name, resourceTitle(name)]

const OUTCOMES: readonly Option[] = [
  ['', 'All'],
  ['refused', 'With refused records'],
  ['stored', 'Accepted as a whole'],
]

const FILTERS = ['resource', 'outcome', 'from', 'to'] as const

async function render(visit: Visit) {
  const { api, account, query } = visit
  const { record_id } = query
  const [list, { vertical }] = await Promise.all([
    api.call(listDeliveries, { account, ...query }),
    api.call(getAccount, { account }),
  ])
  const resources = vertical === 'igaming' ? ['activities'] : ['transactions', 'trading-activity']
  const body = (
    <>
      {record_id === undefined ? (
        <>
          <Filters
            fields={[
              {
                name: 'resource',
                label: 'Resource',
                options: [['', 'All'], ...['customers', ...resources].map(option)],
              },
              { name: 'outcome', label: 'Result', options: OUTCOMES },
              { name: 'from', label: 'From (UTC)', type: 'date' },
              { name: 'to', label: 'To (UTC)', type: 'date' },
            ]}
          />
          <Live id="deliveries" seconds={LIVE_SECONDS}>
            <Table
              caption="Deliveries, the newest first"
              rows={list.data}
              columns={{
                Received: (one) => toDelivery(visit.account, one),
                Resource: ({ resource }) => resourceTitle(resource),
                Result: (one) => <DeliveryBadge delivery={one} />,
                Records: { number: ({ summary }) => count(summary.received) },
                Created: { number: ({ summary }) => count(summary.created) },
                Updated: { number: ({ summary }) => count(summary.updated) },
                Held: { number: ({ summary }) => count(summary.held) },
                Refused: { number: ({ summary }) => count(summary.rejected) },
                'Not stored': { number: ({ summary }) => count(summary.not_stored) },
              }}
              empty={
                <EmptyState title="No delivery matches.">
                  <p>
                    The log keeps the deliveries of 30 days. Choose other days (UTC) above, or clear
                    the filters.
                  </p>
                </EmptyState>
              }
            />
          </Live>
        </>
      ) : (
        <RecordHistory rows={list.data} />
      )}
      <Pager meta={list.meta} />
    </>
  )
  const title = record_id === undefined ? 'Deliveries' : `Record ${isolated(record_id)}`
  return { title, body }
}

/** The deliveries of an account, or the history of one record. */
export const deliveriesPage: Page = {
  path: '/accounts/:account/deliveries',
  shows: 'account',
  section: 'Deliveries',
  query: ['record_id', ...FILTERS, 'cursor'],
  render,
}
