import { listHeld } from '../../admin/held.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { accountPath, type Page, withQuery } from '../page.ts'
import { Data, EmptyState, Pager, Time } from '../parts/data.tsx'
import { deliveriesPath } from '../parts/deliveries.tsx'
import { AccountLink } from '../parts/fields.tsx'
import { Table } from '../parts/table.tsx'

const PAGE_SIZE = 200

type HeldList = AnswerOf<typeof listHeld>
type Held = HeldList['data'][number]

/** The held records of one resource that wait for the same customer. */
interface Waiting {
  readonly customer: string
  readonly resource: string
  readonly count: number
  readonly first: Held
}

const customerOf = ({ record }: Held) =>
  String(record.customer_id ?? record.customerid ?? record.customerId ?? '')

/** Returns the records of each missing customer as one row. They come ordered by resource and customer. */
function waitingOf(records: readonly Held[]): Waiting[] {
  const groups = Map.groupBy(records, (one) => JSON.stringify([one.resource, customerOf(one)]))
  return [...groups.values()].flatMap((group) => {
    const first = group.toSorted((a, b) => (a.received_at < b.received_at ? -1 : 1))[0]
    if (!first) return []
    const { resource } = first
    return [{ customer: customerOf(first), resource, count: group.length, first }]
  })
}

/** Held records, and customers without an affiliate. */
export const heldPage: Page = {
  path: '/accounts/:account/held',
  section: 'Held records',
  query: ['cursor'],
  async render(visit) {
    const { api, account, query } = visit
    const held = await api.call(listHeld, { account, ...query, per_page: PAGE_SIZE })
    const body = (
      <>
        <p class="note">
          These records are not in totals or commissions yet. The sender releases them by sending
          the customer. If the customer was sent and refused, its link shows why.
        </p>
        <Table
          caption="Records that wait for their customer"
          rows={waitingOf(held.data)}
          columns={{
            'Missing customer': ({ customer }) => (
              <a href={deliveriesPath(visit.account, { record_id: customer })}>
                <Data text={customer} />
              </a>
            ),
            Resource: ({ resource }) => resource,
            Records: { number: ({ count }) => count.toLocaleString('en') },
            'First received': ({ first }) => (
              <a href={accountPath(visit.account, 'deliveries', first.delivery_id)}>
                <Time at={first.received_at} />
              </a>
            ),
          }}
          empty={
            <EmptyState title="No record waits for its customer.">
              <p>
                Records of unknown customers wait only if the{' '}
                <AccountLink at={['account']} children="settings" /> of the account say so.
                Otherwise they are refused.
              </p>
            </EmptyState>
          }
        />
        {held.data.length > 0 && <Pager meta={held.meta} />}
        <p>
          <a href={withQuery(accountPath(account, 'customers'), { unattributed: 'true' })}>
            Customers without an affiliate
          </a>
        </p>
      </>
    )
    return { title: 'Held records', body }
  },
}
