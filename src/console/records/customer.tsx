import {
  endRefusal,
  getAffiliations,
  refuseCustomer,
} from '../../commission/operations/histories.ts'
import { counted } from '../../commission/words/english.ts'
import { listFraudCases } from '../../fraud/operations.ts'
import { listAttributed } from '../../ingest/operations/attribution.ts'
import { listRecords } from '../../ingest/operations/records.ts'
import { nullIfNotFound } from '../../pages/api-errors.ts'
import { type Page, type Visit, withQuery } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Badge, count, Data, Day, isolated, Pager } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { RecordFields } from '../../pages/parts/record-fields.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { NamedCases } from '../fraud/case-parts.tsx'
import { AttributionVerdict } from './customer-parts.tsx'
import { Records, recordsCalled } from './records.tsx'

/** The records of each resource that the page shows; a link leads to all. */
const SHOWN_RECORDS = 20

/** The cases that the page shows; a link leads to all. */
const SHOWN_CASES = 5

/** The resources of which customers have records. An account has those of its vertical. */
const RESOURCES = ['transactions', 'trading-activity', 'activities'] as const

/** Names the customer of the page. */
const ownCustomer = ({ account, params: { customer_id = '' } }: Visit) => ({
  account,
  customer_id,
})

type Refused = AnswerOf<typeof refuseCustomer>

/** Says that the refusal is stored, and whether it changes closed periods. */
const refusedText = (answer: unknown): string =>
  ['The refusal is stored.', ...(answer as Refused).warnings.map((one) => one.message)].join(' ')

const changes: NonNullable<Page['changes']> = {
  refuse: calling(refuseCustomer, refusedText),
  endRefusal: calling(endRefusal, 'The customer is no longer refused.'),
}

/** Reads the records of a customer, of each resource that the account has. */
async function readRecords({ api, account, query }: Visit, customer_id: string) {
  const { resource, cursor } = query
  const names = RESOURCES.filter((name) => resource === undefined || resource === name)
  const page = resource === undefined ? { per_page: SHOWN_RECORDS } : { cursor }
  const lists = await Promise.all(
    names.map((name) =>
      api
        .call(listRecords, { account, resource: name, customer_id, ...page })
        .then((list) => ({ ...list, resource: name }))
        .catch(nullIfNotFound),
    ),
  )
  return lists.filter((list) => list !== null)
}

/** One customer: where they came from, who is paid for them, and their records. */
export const customerPage: Page = {
  path: '/accounts/:account/customers/:customer_id',
  shows: 'affiliate',
  section: 'Customers',
  query: ['resource', 'cursor'],
  changes,
  async render(visit) {
    const { api, account, params } = visit
    const customer_id = params.customer_id ?? ''
    const [history, listed, own, lists, cases] = await Promise.all([
      api.call(getAffiliations, ownCustomer(visit)),
      api.call(listAttributed, { account, customer_id }),
      api.call(listRecords, { account, resource: 'customers', customer_id }),
      readRecords(visit, customer_id),
      api.call(listFraudCases, { account, customer_id, per_page: SHOWN_CASES }),
    ])
    const found = listed.data[0]
    const [record] = own.data
    const current = history.affiliations.at(-1)
    const affiliate = <AffiliateLink id={current?.affiliate_id ?? null} />
    const body = (
      <>
        {record && (
          <RecordFields
            record={record}
            except={['customer_id', 'customerId', 'affiliate_id', 'tracking_data']}
            first={[['Affiliate', affiliate]]}
          />
        )}
        <NamedCases found={cases} query={{ customer_id, status: 'all' }}>
          {counted(cases.meta.total, 'case')} of the fraud review about this customer.
        </NamedCases>
        <p>
          <AccountLink at={['unearned']} query={{ customer_id }}>
            What earned nothing
          </AccountLink>
        </p>
        <h2>Who is paid</h2>
        {found && (
          <p>
            <AttributionVerdict {...found.attribution} />
          </p>
        )}
        {record?.tracking_data && (
          <details>
            <summary>Tracking data</summary>
            <p>
              <Data text={String(record.tracking_data)} />
            </p>
          </details>
        )}
        <Table
          caption="Affiliate history"
          rows={history.affiliations}
          columns={{
            From: ({ from, cause }) =>
              cause ? (
                'The beginning: the first affiliate lasted less than a day'
              ) : from === null ? (
                'The beginning'
              ) : (
                <Day day={from} />
              ),
            Affiliate: ({ affiliate_id: id }) => <AffiliateLink id={id} />,
            Link: 'link_id',
            Delivery: 'delivery_id',
          }}
        />
        <h2>Records</h2>
        {lists.map((list) => (
          <>
            <Records account={visit.account} resource={list.resource} rows={list.data} />
            {visit.query.resource ? (
              <Pager meta={list.meta} />
            ) : (
              list.meta.next_cursor && (
                <p>
                  <a href={withQuery(visit.path, { resource: list.resource })}>
                    All {count(list.meta.total)} records of {recordsCalled(list.resource)}
                  </a>
                </p>
              )
            )}
          </>
        ))}
        <h2>Refusal</h2>
        {history.refusal ? (
          <>
            <p>
              <Badge tone="bad">Refused</Badge> from{' '}
              {history.refusal.from === null ? 'the beginning' : <Day day={history.refusal.from} />}
              : <Data text={history.refusal.reason} />
            </p>
            <ChangeForm change="endRefusal" submit="End the refusal" />
          </>
        ) : (
          <FoldedForm
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
    return { title: `Customer ${isolated(customer_id)}`, body }
  },
}
