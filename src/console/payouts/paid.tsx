import { listPayouts } from '../../books/operations/payouts.ts'
import type { Page } from '../../pages/base/page.ts'
import { Data, Day, EmptyState, NOTHING } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import type { Input } from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { AFFILIATE, askedFor, csvOf, FinanceList } from './finance.tsx'

const FILTERS: readonly Input[] = [
  AFFILIATE,
  { name: 'from', label: 'Paid from', type: 'date' },
  { name: 'to', label: 'Paid until', type: 'date' },
]

/** What was paid. */
export const paidPage: Page = {
  path: '/accounts/:account/paid',
  shows: 'affiliate',
  section: 'Payouts',
  query: ['affiliate_id', 'from', 'to', 'cursor', 'format'],
  file: csvOf(listPayouts, askedFor),
  async render(visit) {
    const { data, sums, meta } = await visit.api.call(listPayouts, askedFor(visit))
    const cameBack = data.some(({ returned_on }) => returned_on !== null)
    const body = (
      <FinanceList here="Paid" fields={FILTERS} meta={meta}>
        {sums.length > 0 && (
          <Table
            isNarrow
            caption="What was paid on these days, and what came back on them"
            rows={sums}
            columns={{ Paid: 'paid', 'Came back': 'returned' }}
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
        <p class="quick">
          <AccountLink at={['answers']} children="Upload the bank’s answer" />
        </p>
      </FinanceList>
    )
    return { title: 'Paid', body }
  },
}
