import { accountPath, apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { type Attributed, Customers, Unattributed, unattributedDays } from '../parts/customers.tsx'
import { dayWords, EmptyState, isolated, type List, Pager } from '../parts/data.tsx'
import { DeferredPart } from '../parts/deferred.tsx'
import { deliveriesPath } from '../parts/deliveries.tsx'
import { Filters, type Input } from '../parts/forms.tsx'

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

/** Says on which days the listed customers without an affiliate signed up. */
const Since = ({ from, to }: { from: string; to: string }) => (
  <p>
    Customers who signed up from {dayWords(from)} to {dayWords(to)} and have no affiliate.
  </p>
)

async function readList(visit: Visit) {
  const { api, account, query } = visit
  const { data, meta } = await api.get<List<Attributed>>(apiPath(account, 'customers'), query)
  const list =
    data.length > 0 ? <Customers account={account} rows={data} /> : <NoCustomers {...visit} />
  return (
    <>
      {query.unattributed ? <Unattributed account={account} rows={data} now={visit.now} /> : list}
      <Pager visit={visit} meta={meta} />
    </>
  )
}

const ID_FILTER: readonly Input[] = [{ name: 'customer_id', label: 'Find a customer by id' }]

const DAY_FILTERS: readonly Input[] = [
  { name: 'unattributed', type: 'hidden' },
  { name: 'from', label: 'Signed up from', type: 'date' },
  { name: 'to', label: 'Signed up to', type: 'date' },
]

/** The customers of an account. No index finds those without an affiliate, so their list is deferred. */
export const customersPage: Page = {
  path: '/accounts/:account/customers',
  section: 'Customers',
  query: ['customer_id', 'unattributed', 'from', 'to', 'cursor'],
  async render(asked) {
    const isSearch = asked.query.unattributed !== undefined
    const days = { ...unattributedDays(asked.now), ...asked.query }
    const visit = isSearch ? { ...asked, query: days } : asked
    const body = (
      <>
        <Filters visit={visit} fields={isSearch ? DAY_FILTERS : ID_FILTER} />
        <Lists {...visit} />
        {isSearch && <Since from={days.from} to={days.to} />}
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
