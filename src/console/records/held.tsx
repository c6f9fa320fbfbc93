import { listHeld } from '../../ingest/operations/held.ts'
import type { Page } from '../../pages/base/page.ts'
import { Data, EmptyState, Pager } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { nounOf } from '../../pages/parts/record-fields.tsx'
import { findPath } from '../../pages/parts/record-lookup.ts'
import { Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { toDelivery } from './record-history.tsx'

const PAGE_SIZE = 200

type Held = AnswerOf<typeof listHeld>['data'][number]

const customerOf = ({ record }: Held) =>
  String(record.customer_id ?? record.customerid ?? record.customerId ?? '')

/** Held records. */
export const heldPage: Page = {
  path: '/accounts/:account/held',
  shows: 'account',
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
          rows={held.data}
          columns={{
            'Missing customer': (one) => (
              <a href={findPath(visit.account, customerOf(one))}>
                <Data text={customerOf(one)} />
              </a>
            ),
            Record: ({ resource, record }) => <Data text={nounOf(resource, record)} />,
            Received: (one) => toDelivery(visit.account, one),
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
      </>
    )
    return { title: 'Held records', body }
  },
}
