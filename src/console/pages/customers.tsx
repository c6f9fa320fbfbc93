import { listAttributed } from '../../admin/attribution.ts'
import { accountPath, dayBefore, type Page, type Visit, withQuery } from '../page.ts'
import { agoText } from '../parts/cases.tsx'
import { AttributionVerdict, CustomerLink } from '../parts/customers.tsx'
import { Badge, Day, dayWords, EmptyState, isolated, Pager } from '../parts/data.tsx'
import { DeferredPart } from '../parts/deferred.tsx'
import { deliveriesPath } from '../parts/deliveries.tsx'
import { Filters } from '../parts/forms.tsx'
import { AffiliateLink } from '../parts/names.tsx'
import { Table } from '../parts/table.tsx'

/** Renders what is said where there are no customers. */
const NoCustomers = ({ account, query: { customer_id, unattributed } }: Visit) => {
  if (unattributed)
    return <EmptyState title="Every customer who signed up on these days has an affiliate." />
  return customer_id ? (
    <EmptyState title={`No customer has the id ${isolated(customer_id)}.`}>
      <p>
        Ids are case-sensitive.{' '}
        <a href={deliveriesPath(account, { record_id: customer_id })}>
          See whether the customer was sent and refused
        </a>
        .
      </p>
    </EmptyState>
  ) : (
    <EmptyState title="There are no customers yet.">
      <p>
        The <a href="/docs/start">guide</a> shows how a first customer is sent.
      </p>
    </EmptyState>
  )
}

async function renderList(visit: Visit) {
  const { api, account, query, today } = visit
  const { data, meta } = await api.call(listAttributed, {
    account,
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
          Signup: ({ day }) => (
            <>
              <Day day={day} /> <small>{agoText(day, today)}</small>
            </>
          ),
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
        empty={<NoCustomers {...visit} />}
      />
      <Pager meta={meta} />
    </>
  )
}

/** The customers of an account. No index finds those without an affiliate, so their list is deferred. */
export const customersPage: Page = {
  path: '/accounts/:account/customers',
  section: 'Customers',
  query: ['customer_id', 'unattributed', 'from', 'to', 'cursor'],
  async render(visit) {
    const { account, query, today } = visit
    const isSearch = query.unattributed !== undefined
    const path = accountPath(account, 'customers')
    const days = { from: dayBefore(today, 29), to: dayBefore(today, 0) }
    const { from, to } = { ...days, ...query }
    const body = (
      <>
        <Filters
          fields={
            isSearch || query.from
              ? [
                  { name: 'unattributed', type: 'hidden' },
                  { name: 'from', label: 'Signed up from', type: 'date', value: from },
                  { name: 'to', label: 'Signed up to', type: 'date', value: to },
                ]
              : [{ name: 'customer_id', label: 'Id of a customer' }]
          }
        />
        <nav class="quick" aria-label="Lists of customers">
          <a href={path} aria-current={isSearch ? undefined : 'page'}>
            All customers
          </a>
          <a
            href={withQuery(path, { unattributed: 'true', ...days })}
            aria-current={isSearch ? 'page' : undefined}
          >
            Without an affiliate
          </a>
        </nav>
        {isSearch && (
          <p>
            Customers who signed up from {dayWords(from)} to {dayWords(to)} and have no affiliate.
          </p>
        )}
        {isSearch ? <DeferredPart /> : await renderList(visit)}
      </>
    )
    return {
      title: 'Customers',
      body,
      computeDeferred: isSearch
        ? () => renderList({ ...visit, query: { ...query, from, to } })
        : undefined,
    }
  },
}
