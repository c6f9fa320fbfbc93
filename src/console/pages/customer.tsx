import { nullIfNotFound } from '../api-errors.ts'
import { accountPath, apiPath, type Change, type Page, type Visit, withQuery } from '../page.ts'
import { AffiliateLink, type Attributed, AttributionVerdict } from '../parts/customers.tsx'
import { Badge, Data, isolated, type List, Pager, Table } from '../parts/data.tsx'
import { EarnedPart, earnedIn } from '../parts/earned.tsx'
import { ChangeForm, FoldedForm } from '../parts/forms.tsx'
import { Fields, Records, type StoredRecord } from '../parts/records.tsx'

/** The records of each resource that the page shows; a link leads to all. */
const SHOWN_RECORDS = 20

/** The resources of which customers have records. An account has those of its vertical. */
const RESOURCES = ['transactions', 'trading-activity', 'activities'] as const

interface Affiliation {
  readonly from: string | null
  readonly affiliate_id: string | null
  readonly link_id: string | null
  readonly delivery_id: string | null
  readonly cause?: 'corrected_early'
}

interface History {
  readonly affiliations: readonly Affiliation[]
  readonly refusal: { readonly from: string | null; readonly reason: string } | null
}

type RecordList = List<StoredRecord> & { readonly resource: string }

/** Returns the path and query of a part of the customer in the API. The query has the id: it may be `..`. */
const partOf = ({ account, params }: Visit, part: string) => ({
  path: apiPath(account, 'customers', part),
  query: { customer_id: params.customer },
})

const refuse: Change = {
  done: 'The refusal is stored.',
  request: (values, visit) => ({
    ...partOf(visit, 'refusal'),
    method: 'PUT',
    body: { reason: values('reason'), ...(values('from') && { from: values('from') }) },
  }),
}

const endRefusal: Change = {
  done: 'The customer is no longer refused.',
  request: (_, visit) => ({ ...partOf(visit, 'refusal'), method: 'DELETE' }),
}

/** Reads the records of a customer, of each resource that the account has. */
async function readRecords({ api, account, query }: Visit, customer_id: string) {
  const { resource, cursor } = query
  const names = RESOURCES.filter((name) => resource === undefined || resource === name)
  const page = resource === undefined ? { per_page: SHOWN_RECORDS } : { cursor }
  const lists = await Promise.all(
    names.map((name) =>
      api
        .get<List<StoredRecord>>(apiPath(account, 'records', name), { customer_id, ...page })
        .then((list): RecordList => ({ ...list, resource: name }))
        .catch(nullIfNotFound),
    ),
  )
  return lists.filter((list) => list !== null)
}

const Affiliations = ({ account, rows }: { account: string; rows: readonly Affiliation[] }) => (
  <Table
    caption="Affiliate history"
    rows={rows}
    columns={[
      {
        title: 'From',
        cell: ({ from, cause }) =>
          cause
            ? 'the beginning: the first affiliate lasted less than a day'
            : (from ?? 'the beginning'),
      },
      {
        title: 'Affiliate',
        cell: ({ affiliate_id: id }) => <AffiliateLink account={account} id={id} />,
      },
      { title: 'Link', cell: ({ link_id }) => (link_id === null ? '–' : <Data text={link_id} />) },
      {
        title: 'Delivery',
        cell: ({ delivery_id: id }) =>
          id === null ? '–' : <a href={accountPath(account, 'deliveries', id)}>{id}</a>,
      },
    ]}
  />
)

const Refusal = ({ visit, refusal }: { visit: Visit } & Pick<History, 'refusal'>) => (
  <>
    <h2>Refusal</h2>
    {refusal ? (
      <>
        <p>
          <Badge tone="bad">Refused</Badge> from {refusal.from ?? 'the beginning'}:{' '}
          <Data text={refusal.reason} />
        </p>
        <ChangeForm visit={visit} change="endRefusal" submit="End the refusal" />
      </>
    ) : (
      <FoldedForm
        visit={visit}
        title="Refuse the customer"
        change="refuse"
        submit="Refuse the customer"
        fields={[
          {
            name: 'reason',
            required: true,
            hint: 'Such as self-referral. It is in the audit log.',
          },
          {
            name: 'from',
            type: 'date',
            hint: 'The first day without commission. Empty: from the beginning.',
          },
        ]}
      />
    )}
  </>
)

const RecordLists = ({ visit, lists }: { visit: Visit; lists: readonly RecordList[] }) => (
  <>
    <h2>Records</h2>
    {lists.map(({ resource, data, meta }) => (
      <>
        <Records account={visit.account} resource={resource} rows={data} />
        {visit.query.resource ? (
          <Pager visit={visit} meta={meta} />
        ) : (
          meta.next_cursor && (
            <p>
              <a href={withQuery(visit.path, { resource })}>
                All {meta.total.toLocaleString('en')} records of {resource}
              </a>
            </p>
          )
        )}
      </>
    ))}
  </>
)

/** One customer: where they came from, their records and what they earned. */
export const customerPage: Page = {
  path: '/accounts/:account/customers/:customer',
  section: 'Customers',
  query: ['period', 'resource', 'cursor'],
  changes: { refuse, endRefusal },
  async render(visit) {
    const { api, account, params } = visit
    const customer_id = params.customer ?? ''
    const affiliations = partOf(visit, 'affiliations')
    const [history, listed, own, lists] = await Promise.all([
      api.get<History>(affiliations.path, affiliations.query),
      api.get<List<Attributed>>(apiPath(account, 'customers'), { customer_id }),
      api.get<{ data: StoredRecord[] }>(apiPath(account, 'records', 'customers'), { customer_id }),
      readRecords(visit, customer_id),
    ])
    const found = listed.data[0]
    const [record] = own.data
    const body = (
      <>
        {found && (
          <p class="lead">
            <AttributionVerdict {...found.attribution} />
          </p>
        )}
        <EarnedPart visit={visit} signup={found?.day ?? ''} />
        <h2>Who is paid</h2>
        <Affiliations account={account} rows={history.affiliations} />
        <RecordLists visit={visit} lists={lists} />
        {record && (
          <>
            <h2>Customer data as sent</h2>
            <Fields record={record} />
          </>
        )}
        <Refusal visit={visit} refusal={history.refusal} />
      </>
    )
    const { period } = visit.query
    const computeDeferred = period
      ? () => earnedIn(visit, { path: apiPath(account), customer_id, period })
      : undefined
    return { title: `Customer ${isolated(customer_id)}`, body, computeDeferred }
  },
}
