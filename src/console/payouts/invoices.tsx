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

type Account = AnswerOf<typeof getAccount>
type Settings = Account['invoicing']
type Listed = AnswerOf<typeof listInvoices>['data'][number]

/** The members of the setting `invoicing` by the names of their fields. */
const MEMBERS: Readonly<Record<string, keyof Settings>> = {
  numbers_begin_with: 'series',
  our_vat_number: 'vat_id',
  vat_of_domestic_affiliates_in_percent: 'rate',
  our_adviser_has_seen_a_sample: 'sample_seen',
}

/** Returns the present values of the fields. */
const valuesOf = ({ self_billing, invoicing }: Account) => ({
  self_billing,
  ...Object.fromEntries(Object.entries(MEMBERS).map(([name, member]) => [name, invoicing[member]])),
  version_of_the_agreement: invoicing.agreement?.version,
  text: invoicing.agreement?.text,
})

/** Renders what became of an invoice. */
const InvoiceState = ({ corrects, corrected_by }: Listed) => {
  if (corrects) return <Badge tone="quiet">Takes back {corrects}</Badge>
  return corrected_by ? <Badge tone="warn">Taken back</Badge> : <Badge tone="good">Written</Badge>
}

/** The invoices that the account has written for its affiliates, and what they need. */
export const invoicesPage: Page = {
  path: '/accounts/:account/invoices',
  section: 'Payouts',
  query: ['number', 'affiliate_id', 'cursor'],
  changes: {
    correct: calling(correctInvoice, 'The invoice is taken back.'),
    save: calling(changeAccount, 'The settings of invoices are saved.', (values) => {
      const sent = changedMembers(invoicingForm, values)
      const named = Object.entries(sent).flatMap(([name, value]) =>
        MEMBERS[name] ? [[MEMBERS[name], value] as const] : [],
      )
      const [version, text] = [values('version_of_the_agreement'), values('text')].map((one) =>
        one.trim(),
      )
      const isNew = sent.version_of_the_agreement !== undefined || sent.text !== undefined
      return {
        invoicing: { ...Object.fromEntries(named), ...(isNew && { agreement: { version, text } }) },
      } as object
    }),
  },
  file: ({ api, account, query: { number } }) =>
    number ? api.file(getInvoice, { account, number }, 'text/html') : null,
  async render({ api, account, query }) {
    const [{ data, meta }, settings] = await Promise.all([
      api.call(listInvoices, { account, ...query }),
      api.call(getAccount, { account }),
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
        <h2>Settings</h2>
        <p>
          An invoice is written with the approval of a statement. It waits until all of this is set,
          the affiliate has agreed in the portal, and their VAT is decided with their bank details.
          Our name and address are those of the first account from which we pay.
        </p>
        <SchemaForm
          change="save"
          submit="Save the settings"
          needs="approver"
          schemas={invoicingForm}
          values={valuesOf(settings)}
        />
      </>
    )
    return { title: 'Invoices', body }
  },
}
