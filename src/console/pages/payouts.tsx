import { apiPath, type Page, withQuery } from '../page.ts'
import { Amount, EmptyState, type List, Pager, Table } from '../parts/data.tsx'
import { ChangeForm, Field, Filters } from '../parts/forms.tsx'
import { To } from '../parts/money.tsx'

interface Payout {
  readonly affiliate_id: string
  readonly currency: string
  readonly amount: string
  readonly statements: number
  readonly payable_on?: string
  readonly paid_on?: string
  readonly reference: string
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
      done: 'The payments are stored.',
      request: (values, { account }) => ({
        ...{ method: 'POST', path: apiPath(account, 'payouts') },
        csv: values('csv').replaceAll('\r', ''),
      }),
    },
  },
  file: ({ account, query: { format, cursor: _, ...query } }) =>
    format === 'csv' ? { path: apiPath(account, 'payouts'), query, type: 'text/csv' } : null,
  async render(visit) {
    const { format: _, ...query } = visit.query
    const { data, meta } = await visit.api.get<List<Payout>>(
      apiPath(visit.account, 'payouts'),
      query,
    )
    const status = query.status ?? 'approved'
    const body = (
      <>
        <Filters
          visit={visit}
          fields={[
            {
              name: 'status',
              label: 'Status',
              options: [
                ['', 'To be paid'],
                ['paid', 'Paid'],
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
          columns={[
            {
              title: 'Affiliate',
              of: ({ affiliate_id: id }) => (
                <To visit={visit} at={['affiliates', id]} children={id} />
              ),
            },
            {
              title: 'Amount',
              isNumeric: true,
              of: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
            },
            {
              title: 'Statements',
              isNumeric: true,
              of: ({ affiliate_id, statements }) => (
                <To
                  visit={visit}
                  at={['statements']}
                  query={{ affiliate_id, status }}
                  children={statements}
                />
              ),
            },
            { title: 'Day', of: ({ payable_on, paid_on }) => payable_on ?? paid_on },
            { title: 'Reference', of: ({ reference }) => <code>{reference}</code> },
          ]}
          empty={
            <EmptyState title="Nothing is here.">
              <p>
                Approved <To visit={visit} at={['statements']} children="statements" /> with a
                payable amount have to be paid.
              </p>
            </EmptyState>
          }
        />
        <Pager visit={visit} meta={meta} />
        <details>
          <summary>Store payments of a CSV</summary>
          <ChangeForm visit={visit} change="pay" submit="Store the payments" needs="approver">
            <Field
              visit={visit}
              change="pay"
              name="csv"
              type="area"
              label="CSV"
              hint={`All rows or none. The first line is ${COLUMNS}.`}
              value={`${COLUMNS}\n`}
              required
            />
          </ChangeForm>
        </details>
      </>
    )
    return { title: 'Payouts', body }
  },
}
