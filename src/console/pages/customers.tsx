import { accountPath, apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { type Attributed, Customers, Unattributed, unattributedDays } from '../parts/customers.tsx'
import { EmptyState, isolated, type List, Pager } from '../parts/data.tsx'
import { DeferredPart } from '../parts/deferred.tsx'
import { deliveriesPath } from '../parts/deliveries.tsx'
import { Filters } from '../parts/forms.tsx'

const NoCustomers = ({ account, query: { customer_id } }: Visit) =>
  customer_id ? (
    <EmptyState title={`No customer with the id ${isolated(customer_id)} is stored.`}>
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

const Lists = ({ account, now, query }: Visit) => {
  const path = accountPath(account, 'customers')
  const isAll = query.unattributed === undefined
  return (
    <nav class="quick" aria-label="Lists of customers">
      <a href={path} aria-current={isAll ? 'page' : undefined}>
        All customers
      </a>
      <a
        href={withQuery(path, { unattributed: 'true', ...unattributedDays(now) })}
        aria-current={isAll ? undefined : 'page'}
      >
        Without an affiliate
      </a>
    </nav>
  )
}

async function readList(visit: Visit) {
  const { api, account, query } = visit
  const { data, meta } = await api.get<List<Attributed>>(apiPath(account, 'customers'), query)
  const list =
    data.length > 0 ? <Customers account={account} rows={data} /> : <NoCustomers {...visit} />
  return (
    <>
      {query.unattributed ? <Unattributed account={account} rows={data} /> : list}
      <Pager visit={visit} meta={meta} />
    </>
  )
}

/** The customers of an account. No index finds those without an affiliate, so their list is deferred. */
export const customersPage: Page = {
  path: '/accounts/:account/customers',
  section: 'Customers',
  query: ['customer_id', 'unattributed', 'from', 'to', 'cursor'],
  async render(visit) {
    const isSearch = visit.query.unattributed !== undefined
    const body = (
      <>
        <Filters visit={visit} fields={[{ name: 'customer_id', label: 'Find a customer by id' }]} />
        <Lists {...visit} />
        {isSearch ? <DeferredPart /> : await readList(visit)}
      </>
    )
    return {
      title: 'Customers',
      body,
      computeDeferred: isSearch ? () => readList(visit) : undefined,
    }
  },
}
