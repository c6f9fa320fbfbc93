import { listAttributed } from '../../ingest/operations/attribution.ts'
import type { Page } from '../../pages/base/page.ts'
import { Badge, EmptyState, Pager } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { Filters } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { AttributionVerdict, CustomerLink } from './customer-parts.tsx'

/** The customers of an account. */
export const customersPage: Page = {
  path: '/accounts/:account/customers',
  shows: 'affiliate',
  section: 'Customers',
  query: ['customer_id', 'cursor'],
  async render({ api, account, query }) {
    // Spaces around an id were pasted with it.
    const customer_id = query.customer_id?.trim()
    const { data, meta } = await api.call(listAttributed, { account, ...query, customer_id })
    const body = (
      <>
        <Filters fields={[{ name: 'customer_id', label: 'Id of a customer' }]} />
        <Table
          caption="Customers and who is paid for them"
          rows={data}
          columns={{
            Customer: ({ customer_id }) => <CustomerLink account={account} id={customer_id} />,
            Signup: 'day',
            Affiliate: ({ attribution: { affiliate_id, affiliate_configured } }) => (
              <>
                <AffiliateLink id={affiliate_id} />{' '}
                {affiliate_id !== null && !affiliate_configured && (
                  <Badge tone="warn">not configured</Badge>
                )}
              </>
            ),
            Attribution: ({ attribution }) => <AttributionVerdict {...attribution} />,
          }}
          empty={
            <EmptyState title="No customer matches.">
              <p>
                Ids are case-sensitive. If a customer was sent, look at the{' '}
                <AccountLink at={['deliveries']} query={{ record_id: query.customer_id }}>
                  deliveries that may have refused it
                </AccountLink>
                .
              </p>
            </EmptyState>
          }
        />
        <Pager meta={meta} />
      </>
    )
    return { title: 'Customers', body }
  },
}
