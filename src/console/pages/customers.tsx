import { listAttributed } from '../../admin/attribution.ts'
import { findRecords } from '../../admin/records.ts'
import { accountPath, type Page, type Visit, withQuery } from '../page.ts'
import { CustomerLink, Customers, Unattributed, unattributedDays } from '../parts/customers.tsx'
import { dayWords, EmptyState, isolated, Pager } from '../parts/data.tsx'
import { DeferredPart } from '../parts/deferred.tsx'
import { deliveriesPath } from '../parts/deliveries.tsx'
import { Filters, type Input } from '../parts/forms.tsx'
import { Table } from '../parts/table.tsx'

async function readList(visit: Visit) {
  const { api, account, query } = visit
  // Spaces around an id were pasted with it.
  const customer_id = query.customer_id?.trim() || undefined
  const [{ data, meta }, beginning] = await Promise.all([
    api.call(listAttributed, {
      account,
      customer_id,
      // The operation reads the text.
      unattributed: query.unattributed as never,
      from: query.from,
      to: query.to,
      cursor: query.cursor,
    }),
    customer_id ? api.call(findRecords, { account, id: customer_id, match: 'beginning' }) : null,
  ])
  const found = beginning?.data.filter(({ resource }) => resource === 'customers') ?? []
  if (data.length === 0 && customer_id && found.length > 0) {
    return (
      <>
        <Table
          caption={`Customers whose ids begin with ${isolated(customer_id)}`}
          rows={found}
          columns={{
            Customer: (row) => <CustomerLink account={account} id={row.id} />,
            Signup: 'day',
          }}
        />
        <p class="note">The first ten are listed. Enter more of the id to find others.</p>
      </>
    )
  }
  const list =
    data.length > 0 ? (
      <Customers rows={data} />
    ) : visit.query.customer_id ? (
      <EmptyState
        title={`No customer has an id that is or begins with ${isolated(visit.query.customer_id)}.`}
      >
        <p>
          Ids are case-sensitive.{' '}
          <a href={deliveriesPath(visit.account, { record_id: visit.query.customer_id })}>
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
  return (
    <>
      {query.unattributed ? <Unattributed rows={data} now={visit.today} /> : list}
      <Pager meta={meta} />
    </>
  )
}

const ID_FILTER: readonly Input[] = [
  { name: 'customer_id', label: 'Id of a customer, or its beginning' },
]

const DAY_FILTERS: readonly Input[] = [
  { name: 'from', label: 'Signed up from', type: 'date' },
  { name: 'to', label: 'Signed up to', type: 'date' },
]

const UNATTRIBUTED_FILTERS: readonly Input[] = [
  { name: 'unattributed', type: 'hidden' },
  ...DAY_FILTERS,
]

/** The customers of an account. No index finds those without an affiliate, so their list is deferred. */
export const customersPage: Page = {
  path: '/accounts/:account/customers',
  section: 'Customers',
  hasNames: true,
  query: ['customer_id', 'unattributed', 'from', 'to', 'cursor'],
  async render(given) {
    const isSearch = given.query.unattributed !== undefined
    const days = { ...unattributedDays(given.today), ...given.query }
    const visit = isSearch ? { ...given, query: days } : given
    const path = accountPath(visit.account, 'customers')
    const isAll = !isSearch
    const body = (
      <>
        <Filters
          fields={isSearch ? UNATTRIBUTED_FILTERS : visit.query.from ? DAY_FILTERS : ID_FILTER}
        />
        <nav class="quick" aria-label="Lists of customers">
          <a href={path} aria-current={isAll ? 'page' : undefined}>
            All customers
          </a>
          <a
            href={withQuery(path, { unattributed: 'true', ...unattributedDays(visit.today) })}
            aria-current={isAll ? undefined : 'page'}
          >
            Without an affiliate
          </a>
        </nav>
        {isSearch && (
          <p>
            Customers who signed up from {dayWords(days.from)} to {dayWords(days.to)} and have no
            affiliate.
          </p>
        )}
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
