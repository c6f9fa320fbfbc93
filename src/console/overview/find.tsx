import { getCustomerNames, PSEUDONYM } from '../../affiliates/customer-names.ts'
import { listAffiliates } from '../../affiliates/operations/affiliates.ts'
import { listPayouts } from '../../books/operations/payouts.ts'
import { findRecords } from '../../ingest/operations/records.ts'
import { accountPath, type Page, type Visit, withQuery } from '../../pages/base/page.ts'
import { Badge, Data, EmptyState, isolated } from '../../pages/parts/data.tsx'
import { deliveriesPath } from '../../pages/parts/deliveries.tsx'
import { nounOf } from '../../pages/parts/record-fields.tsx'
import { recordPath } from '../../pages/parts/record-lookup.ts'
import { Table } from '../../pages/parts/table.tsx'
import { listBatches } from '../../payouts/operations/batches.ts'

/** Something of the account that was found. */
interface Choice {
  readonly noun: string
  readonly path: string
  /** The id, and the name of an affiliate. */
  readonly text: string
  readonly day: string | null
  readonly isHeld: boolean
}

/** The number of affiliates that a text finds. */
const MAX_AFFILIATES = 10

/** Finds records with an id, affiliates whose ids, names or addresses have it, and payments and batches with the reference. */
async function findChoices({ api, account }: Visit, text: string): Promise<Choice[]> {
  const [affiliates, records, payments, batches] = await Promise.all([
    api.call(listAffiliates, { account, search: text, per_page: MAX_AFFILIATES }),
    api.call(findRecords, { account, id: text }),
    api.call(listPayouts, { account, reference: text }),
    api.call(listBatches, { account, reference: text }),
  ])
  return [
    ...affiliates.data.map(({ affiliate_id, display_name, contact_email }) => ({
      noun: 'Affiliate',
      path: accountPath(account, 'affiliates', affiliate_id),
      text: [affiliate_id, display_name, contact_email].filter(Boolean).join(', '),
      day: null,
      isHeld: false,
    })),
    ...records.data.map((one) => ({
      noun: nounOf(one.resource, one.record),
      path: recordPath(account, one.resource, one.id),
      text: one.id.replace(/^[ed] /, ''),
      day: one.day,
      isHeld: one.outcome === 'held',
    })),
    ...payments.data.map(({ affiliate_id, reference, paid_on }) => ({
      noun: 'Payment',
      path: withQuery(accountPath(account, 'paid'), { affiliate_id }),
      text: `${reference}, ${affiliate_id}`,
      day: paid_on,
      isHeld: false,
    })),
    ...batches.data.map(({ id, execute_on }) => ({
      noun: 'Batch',
      path: accountPath(account, 'batches', id),
      text: id,
      day: execute_on,
      isHeld: false,
    })),
  ]
}

/** The form of ids that no sender chooses, and the pages of what has them. */
const OWN_IDS: readonly (readonly [form: RegExp, page: string])[] = [
  [/^dlv_[0-9A-Z]{26}$/, 'deliveries'],
  [/^stm_[\da-f]{24}$/, 'statements'],
  [/^(?:lin|adj)_[\da-f]{40}$/, 'lines'],
  [/^case_[\da-f]{26}$/, 'cases'],
  [/^qst_[0-9A-Z]{26}$/, 'questions'],
]

/** Leads from an id to the page of what has it. Several such, and what only begins with it, are choices. */
export const findPage: Page = {
  path: '/accounts/:account/find',
  shows: 'affiliate',
  section: 'Customers',
  query: ['record_id'],
  async render(visit) {
    // Spaces around an id were pasted with it.
    const id = visit.query.record_id?.trim()
    if (!id) {
      const body = (
        <EmptyState title="Enter an id above.">
          <p>
            The id of a transaction, an event, a customer, an affiliate, a statement or a case, the
            name or email of an affiliate, the name under which an affiliate knows a customer, or
            the reference of a payment, a transfer or a batch.
          </p>
        </EmptyState>
      )
      return { title: 'Find a record', body }
    }
    const [, own] = OWN_IDS.find(([form]) => form.test(id)) ?? []
    if (own) return { title: 'Find', body: '', next: accountPath(visit.account, own, id) }
    const { account, api } = visit
    const known = PSEUDONYM.test(id)
      ? await api.call(getCustomerNames, { account, customer_id: id })
      : null
    if (known?.customer_id) {
      return { title: 'Find', body: '', next: accountPath(account, 'customers', known.customer_id) }
    }
    const found = await findChoices(visit, id)
    const choices = [...new Map(found.map((one) => [one.path, one])).values()]
    const [only] = choices
    // What is not stored may have been refused: the log of deliveries knows.
    const nowhere = deliveriesPath(visit.account, { record_id: id })
    if (!only && !visit.mayOpen(nowhere))
      return { title: 'Find a record', body: <EmptyState title="Nothing has this id." /> }
    if (choices.length < 2) return { title: 'Find', body: '', next: only?.path ?? nowhere }
    return {
      title: `Find ${isolated(id)}`,
      body: (
        <>
          <Table
            caption={`What has ${isolated(id)}`}
            rows={choices}
            columns={{
              Found: ({ text: found, path }) => (
                <a href={path}>
                  <Data text={found} />
                </a>
              ),
              'What it is': ({ noun, isHeld }) => (
                <>
                  <Data text={noun} /> {isHeld && <Badge tone="warn">Held</Badge>}
                </>
              ),
              Day: 'day',
            }}
          />
          <p class="note">The first ten affiliates are listed.</p>
        </>
      ),
    }
  },
}
