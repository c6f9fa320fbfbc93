import { listPayouts } from '../../books/operations/payouts.ts'
import { type Page, withQuery } from '../../pages/base/page.ts'
import { Amount, Data, Day, EmptyState, NOTHING, Pager } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { Filters, type Input } from '../../pages/parts/forms.tsx'
import { type NumberCell, Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { PayoutTabs } from './payout-tabs.tsx'

const FILTERS: readonly Input[] = [
  { name: 'affiliate_id', label: 'Affiliate' },
  { name: 'from', label: 'Paid from', type: 'date' },
  { name: 'to', label: 'Paid until', type: 'date' },
]

type Sum = AnswerOf<typeof listPayouts>['sums'][number]

const amountOf = (name: 'paid' | 'returned'): NumberCell<Sum> => ({
  number: ({ [name]: value, currency }) => <Amount value={value} currency={currency} />,
})

/** What was paid. */
export const paidPage: Page = {
  path: '/accounts/:account/paid',
  section: 'Payouts',
  query: ['affiliate_id', 'from', 'to', 'cursor', 'format'],
  file({ api, account, query: { format, cursor: _, ...filter } }) {
    return format === 'csv' ? api.file(listPayouts, { account, ...filter }, 'text/csv') : null
  },
  async render({ api, account, path, query: { format: _, ...query } }) {
    const { data, sums, meta } = await api.call(listPayouts, { account, ...query })
    const cameBack = data.some(({ returned_on }) => returned_on !== null)
    const body = (
      <>
        <PayoutTabs here="Paid" />
        <Filters fields={FILTERS} />
        {sums.length > 0 && (
          <Table
            isNarrow
            caption="What was paid on these days, and what came back on them"
            rows={sums}
            columns={{ Paid: amountOf('paid'), 'Came back': amountOf('returned') }}
          />
        )}
        <Table
          caption="Payments, the latest first"
          rows={data}
          columns={{
            Affiliate: 'affiliate_id',
            Amount: 'amount',
            Paid: 'paid_on',
            Reference: 'reference',
            Batch: ({ batch }) =>
              batch === null ? NOTHING : <AccountLink at={['batches', batch]}>{batch}</AccountLink>,
            Statements: {
              number: ({ affiliate_id, statements }) => (
                <AccountLink at={['statements']} query={{ affiliate_id, status: 'paid' }}>
                  {statements}
                </AccountLink>
              ),
            },
            'Came back': cameBack && {
              prose: ({ returned_on, reason }) =>
                reason === null ? (
                  NOTHING
                ) : (
                  <>
                    <Day day={returned_on} />: <Data text={reason} />
                  </>
                ),
            },
          }}
          empty={<EmptyState title="No such payments." />}
        />
        <Pager meta={meta} />
        <p class="quick">
          <AccountLink at={['answers']} children="Upload the bank’s answer" />
          {data.length > 0 && (
            <a href={withQuery(path, { ...query, cursor: undefined, format: 'csv' })}>
              Download all as CSV
            </a>
          )}
        </p>
      </>
    )
    return { title: 'Paid', body }
  },
}
