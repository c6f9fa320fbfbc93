import { changeAccount, getAccount } from '../../accounts/accounts.ts'
import { invoicingForm } from '../../accounts/fields.ts'
import type { Page } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Badge, EmptyState, Pager } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { FoldedForm } from '../../pages/parts/forms.tsx'
import { changedMembers } from '../../pages/parts/schema.ts'
import { SchemaForm } from '../../pages/parts/schema-fields.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { correctInvoice, getInvoice, listInvoices } from '../../payouts/operations/invoices.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { PayoutTabs } from './payout-tabs.tsx'

type Listed = AnswerOf<typeof listInvoices>['data'][number]

/** Renders what became of an invoice. */
const InvoiceState = ({ corrects, corrected_by }: Listed) => {
  if (corrects) return <Badge tone="quiet">Takes back {corrects}</Badge>
  return corrected_by ? <Badge tone="warn">Taken back</Badge> : <Badge tone="good">Written</Badge>
}

/** What the settings of invoices are called. */
const LABELS = {
  self_billing: 'Invoices that we write for affiliates',
  series: 'Beginning of their numbers',
  vat_id: 'Our VAT number',
  rate: 'VAT rate',
  sample_seen: 'Our adviser has seen a sample',
  version: 'Version of the agreement',
  text: 'Text of the agreement',
}

/** The invoices that the account has written for its affiliates, and what they need. */
export const invoicesPage: Page = {
  path: '/accounts/:account/invoices',
  shows: 'affiliate',
  section: 'Payouts',
  query: ['number', 'affiliate_id', 'cursor'],
  changes: {
    correct: calling(correctInvoice, 'The invoice is taken back.'),
    save: calling(changeAccount, 'The settings of invoices are saved.', (values) => {
      const { self_billing, version, text, ...sent } = changedMembers(invoicingForm, values)
      const isNew = version !== undefined || text !== undefined
      const agreement = { version: values('version').trim(), text: values('text').trim() }
      return {
        ...(self_billing && { self_billing }),
        invoicing: { ...sent, ...(isNew && { agreement }) },
      }
    }),
  },
  file: ({ api, account, query: { number } }) =>
    number ? api.file(getInvoice, { account, number }, 'text/html') : null,
  async render({ api, account, query }) {
    const [{ data, meta }, settings] = await Promise.all([
      api.call(listInvoices, { account, ...query }),
      api.may(getAccount) ? api.call(getAccount, { account }) : null,
    ])
    const body = (
      <>
        <PayoutTabs here="Invoices" />
        <Table
          caption="Invoices that we have written for affiliates, the latest first"
          rows={data}
          columns={{
            Number: ({ number }) => (
              <AccountLink at={['invoices']} query={{ number }} children={number} />
            ),
            Affiliate: 'affiliate_id',
            Issued: 'issued_on',
            State: InvoiceState,
            VAT: 'vat',
            Total: 'total',
            Statement: ({ statement_id }) => (
              <AccountLink at={['statements', statement_id]}>Open</AccountLink>
            ),
          }}
          empty={<EmptyState title="No invoices yet." />}
        />
        {data.length > 0 && <Pager meta={meta} />}
        {data.length > 0 && (
          <FoldedForm
            change="correct"
            title="Take an invoice back, and write it anew"
            submit="Correct the invoice"
            needs="approver"
            fields={[
              { name: 'number', label: 'Its number', required: true },
              { name: 'reason', label: 'Why', required: true },
            ]}
          >
            <p>
              A correction takes back the whole amount. A new invoice follows by the details and
              settings that hold now.
            </p>
          </FoldedForm>
        )}
        {settings && <Settings {...settings} />}
      </>
    )
    return { title: 'Invoices', body }
  },
}

/** Renders what invoices need, and the form that sets it. */
const Settings = ({ self_billing, invoicing }: AnswerOf<typeof getAccount>) => (
  <>
    <h2>Settings</h2>
    <p>
      An invoice is written with the approval of a statement. It waits until all of this is set, the
      affiliate has agreed in the portal, and their VAT is decided with their bank details. Our name
      and address are those of the first account from which we pay.
    </p>
    <SchemaForm
      change="save"
      submit="Save the settings"
      needs="approver"
      at="/invoicing"
      schemas={invoicingForm}
      labels={LABELS}
      values={{ self_billing, ...invoicing, ...invoicing.agreement }}
    />
  </>
)
