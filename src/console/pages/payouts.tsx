import { apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { EmptyState, type List, Pager, Table } from '../parts/data.tsx'
import { AccountLink, column, fields } from '../parts/fields.tsx'
import { Filters, FoldedForm } from '../parts/forms.tsx'

interface Payout {
  readonly affiliate_id: string
  readonly currency: string
  readonly amount: string
  readonly statements: number
  readonly payable_on?: string
  readonly paid_on?: string
  readonly reference: string
  readonly returned_on?: string | null
  readonly reason?: string | null
}

/** The columns of the CSV that stores payments. */
const COLUMNS = 'affiliate_id,currency,amount,reference,paid_on'

/** What has to be paid, and what was. */
export const payoutsPage: Page = {
  path: '/accounts/:account/payouts',
  section: 'Statements',
  query: ['status', 'payable_on', 'cursor', 'format'],
  changes: {
    pay: {
      done: 'The payments are recorded.',
      request: (values, { account }) => ({
        method: 'POST',
        path: apiPath(account, 'payouts'),
        csv: values('csv'),
      }),
    },
  },
  file: ({ account, query: { format, cursor: _, ...query } }) =>
    format === 'csv' ? { path: apiPath(account, 'payouts'), query, type: 'text/csv' } : null,
  async render(visit) {
    const { format: _, ...query } = visit.query
    const path = apiPath(visit.account, 'payouts')
    const { data, meta } = await visit.api.get<List<Payout>>(path, query)
    const { status = 'approved' } = query
    const body = (
      <>
        <Filters
          visit={visit}
          fields={[
            {
              name: 'status',
              options: [
                ['', 'to be paid'],
                ['paid', 'paid'],
              ],
            },
            { name: 'payable_on', label: 'Payable by', type: 'date' },
          ]}
        />
        <p class="quick">
          <a href={withQuery(visit.path, { ...query, cursor: undefined, format: 'csv' })}>
            CSV of all rows
          </a>
        </p>
        <Table
          caption={status === 'paid' ? 'Payments' : 'What has to be paid'}
          rows={data}
          columns={columnsOf(visit, status)}
          empty={<EmptyState title={status === 'paid' ? 'No payments.' : 'Nothing to pay.'} />}
        />
        <Pager visit={visit} meta={meta} />
        <FoldedForm
          visit={visit}
          title="Record payments from a CSV"
          change="pay"
          submit="Record the payments"
          needs="approver"
          fields={[
            {
              name: 'csv',
              type: 'area',
              label: 'CSV',
              // Every error is about the file.
              pointer: '',
              hint: `All rows are booked, or none. Fill in paid_on in the CSV of all rows, and paste it here. Required columns: ${COLUMNS}. For payments that the bank returned, take the CSV of the payments, and fill in returned_on and reason.`,
              value: `${COLUMNS}\n`,
              required: true,
            },
          ]}
        />
      </>
    )
    return { title: 'Payouts', body }
  },
}

/** Returns the columns of the payouts with a status. */
const columnsOf = (visit: Visit, status: string) => [
  ...fields<Payout>(visit, 'affiliate_id', 'amount', 'currency'),
  column(
    'Statements',
    ({ affiliate_id, statements }: Payout) => (
      <AccountLink visit={visit} at={['statements']} query={{ affiliate_id, status }}>
        {statements}
      </AccountLink>
    ),
    true,
  ),
  ...(status === 'paid'
    ? fields<Payout>(visit, 'paid_on', 'reference', 'returned_on', 'reason')
    : fields<Payout>(visit, 'payable_on', 'reference')),
]
