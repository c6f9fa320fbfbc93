import { listAttributed } from '../../ingest/operations/attribution.ts'
import { dayBefore, type Page, type Visit } from '../../pages/base/page.ts'
import { Badge, EmptyState, Pager } from '../../pages/parts/data.tsx'
import { Deferred } from '../../pages/parts/deferred.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { Filters, type Option } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { AttributionVerdict, CustomerLink } from './customer-parts.tsx'

/** The days of signup that are searched for customers without an affiliate, if no others are chosen. */
const usualDays = ({ query, today }: Visit) =>
  query.unattributed ? { from: dayBefore(today, 29), to: dayBefore(today, 0) } : {}

async function renderList(visit: Visit) {
  const { api, account, query } = visit
  const { data, meta } = await api.call(listAttributed, {
    account,
    ...usualDays(visit),
    ...query,
    // Spaces around an id were pasted with it.
    customer_id: query.customer_id?.trim(),
    // The operation reads the text.
    unattributed: query.unattributed as never,
  })
  return (
    <>
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
}

const SHOWN: readonly Option[] = [
  ['', 'All customers'],
  ['true', 'Those without an affiliate'],
]

/** The customers of an account. No index finds those without an affiliate, so the list is deferred. */
export const customersPage: Page = {
  path: '/accounts/:account/customers',
  shows: 'affiliate',
  section: 'Customers',
  query: ['customer_id', 'unattributed', 'from', 'to', 'cursor'],
  async render(visit) {
    const { from, to } = { ...usualDays(visit), ...visit.query }
    const body = (
      <>
        <Filters
          fields={[
            { name: 'customer_id', label: 'Id of a customer' },
            { name: 'unattributed', label: 'Show', options: SHOWN },
            { name: 'from', label: 'Signed up from', type: 'date', value: from },
            { name: 'to', label: 'Signed up to', type: 'date', value: to },
          ]}
        />
        <Deferred part={() => renderList(visit)} />
      </>
    )
    return { title: 'Customers', body }
  },
}
