import { DAY_MS } from '../../durations.ts'
import { accountPath, apiPath, type Page, type Visit } from '../page.ts'
import { count, EmptyState, type List, Live, Pager, Table, Time } from '../parts/data.tsx'
import { DeliveryBadge, deliveriesPath, FindRecord } from '../parts/deliveries.tsx'
import { type DeliveryList, Fate, toDelivery } from '../parts/fate.tsx'
import { Filters, type Option } from '../parts/forms.tsx'

const LIVE_SECONDS = 10

/** The number of deliveries with an error. */
interface ErrorCount {
  readonly code: string
  readonly deliveries: number
  readonly last_delivery_id: string
  readonly last_received_at: string
}

const RESOURCES: readonly Option[] = [
  ['', 'All'],
  ...['customers', 'transactions', 'trading-activity', 'activities'].map(
    (name): Option => [name, name],
  ),
]

const STATUSES: readonly Option[] = [
  ['', 'All'],
  ['refused', 'With refused records'],
  ['stored', 'Accepted as a whole'],
]

const dayBefore = (now: number, days: number) =>
  new Date(now - days * DAY_MS).toISOString().slice(0, 10)

const Quick = ({ account, now }: Visit) => {
  const [today, yesterday] = [dayBefore(now, 0), dayBefore(now, 1)]
  const of = (from: string, to: string) => deliveriesPath(account, { status: 'refused', from, to })
  return (
    <nav class="quick" aria-label="Usual questions">
      <a href={of(today, today)}>Refused today</a>
      <a href={of(yesterday, yesterday)}>Refused yesterday</a>
      <a href={of(dayBefore(now, 6), today)}>Refused in 7 days</a>
    </nav>
  )
}

/** Renders the same error across deliveries as one row. */
const ErrorCounts = ({ visit, rows }: { visit: Visit; rows: readonly ErrorCount[] }) => (
  <Table
    caption="The errors of these days"
    rows={rows}
    columns={[
      {
        title: 'Error',
        of: ({ code }) => (
          <a href={deliveriesPath(visit.account, { ...visit.query, code, cursor: undefined })}>
            <code>{code}</code>
          </a>
        ),
      },
      { title: 'Deliveries', isNumeric: true, of: ({ deliveries }) => count(deliveries) },
      {
        title: 'Last',
        of: ({ last_delivery_id: delivery_id, last_received_at }) => (
          <a href={accountPath(visit.account, 'deliveries', delivery_id)}>
            <Time at={last_received_at} />
          </a>
        ),
      },
    ]}
    empty={<EmptyState title="No delivery of these days has an error." />}
  />
)

const Deliveries = ({ visit, list }: { visit: Visit; list: DeliveryList }) => (
  <Table
    caption="Deliveries, the newest first"
    rows={list.data}
    columns={[
      { title: 'Received', of: (one) => toDelivery(visit.account, one) },
      { title: 'Resource', of: ({ resource }) => resource },
      { title: 'Result', of: (one) => <DeliveryBadge delivery={one} /> },
      { title: 'Records', isNumeric: true, of: ({ summary }) => count(summary.received) },
      { title: 'Created', isNumeric: true, of: ({ summary }) => count(summary.created) },
      { title: 'Updated', isNumeric: true, of: ({ summary }) => count(summary.updated) },
      { title: 'Held', isNumeric: true, of: ({ summary }) => count(summary.held) },
      { title: 'Refused', isNumeric: true, of: ({ summary }) => count(summary.rejected) },
    ]}
    empty={
      <EmptyState title="No delivery matches.">
        <p>
          The log keeps the deliveries of 30 days.{' '}
          {list.meta.next_cursor
            ? 'The search goes on: see the next page.'
            : 'Widen the days, or clear the filters.'}
        </p>
      </EmptyState>
    }
  />
)

const FILTERS = ['resource', 'status', 'code', 'from', 'to'] as const

async function render(visit: Visit) {
  const { api, account, query } = visit
  const { record_id, from, to, status, code } = query
  const path = apiPath(account, 'deliveries')
  const days = { from: from ?? dayBefore(visit.now, 6), to: to ?? dayBefore(visit.now, 0) }
  const hasErrors = record_id === undefined && (status === 'refused' || code !== undefined)
  const [list, errors] = await Promise.all([
    api.get<DeliveryList>(path, query),
    hasErrors ? api.get<List<ErrorCount>>(apiPath(account, 'delivery-errors'), days) : null,
  ])
  const body = (
    <>
      <FindRecord account={account} id={record_id} />
      {record_id === undefined ? (
        <>
          <Quick {...visit} />
          <Filters
            visit={visit}
            fields={[
              { name: 'resource', label: 'Resource', options: RESOURCES },
              { name: 'status', label: 'Result', options: STATUSES },
              { name: 'code', label: 'Error code' },
              { name: 'from', label: 'From (UTC)', type: 'date' },
              { name: 'to', label: 'To (UTC)', type: 'date' },
            ]}
          />
          {errors && <ErrorCounts visit={visit} rows={errors.data} />}
          <Live id="deliveries" seconds={LIVE_SECONDS}>
            <Deliveries visit={visit} list={list} />
          </Live>
        </>
      ) : (
        <Fate visit={visit} list={list} />
      )}
      <Pager visit={visit} meta={list.meta} />
    </>
  )
  const title = record_id === undefined ? 'Deliveries' : `Record ${record_id}`
  return { title, body }
}

/** The deliveries of an account, and what became of a record. */
export const deliveriesPage: Page = {
  path: '/accounts/:account/deliveries',
  section: 'Deliveries',
  query: ['record_id', ...FILTERS, 'cursor'],
  render,
}
