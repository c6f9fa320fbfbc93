import type { Attention } from '../../accounts/open-work.ts'
import { accountPath, useVisit, type Visit, withQuery } from '../../pages/base/page.ts'
import { Badge, count } from '../../pages/parts/data.tsx'
import { FormSentence } from '../../pages/parts/forms.tsx'

/** A button of an item: its text, and the page to which it leads. */
type Button = readonly [text: string, path: readonly string[], query?: Visit['query']]

/**
 * Where each is resolved, by the first name of the item and their number. What affiliates are paid comes first, then what keeps
 * records from counting.
 */
const BUTTONS: Readonly<Record<Attention['code'], (first: string, number: number) => Button>> = {
  unapproved_drafts: (period) => ['Review', ['statements'], { period, status: 'draft' }],
  waiting_for_rates: () => ['Add rates', ['rates']],
  prepared_batches: (batch, number) =>
    number > 1 ? ['Look at them', ['batches']] : ['Look at it', ['batches', batch]],
  returned_payments: () => ['Show', ['payouts']],
  unbooked_movements: (reference) => ['Show', ['find'], { record_id: reference }],
  open_cases: () => ['Decide', ['cases'], { needs: 'decision' }],
  waiting_cases: () => ['Show', ['cases'], { needs: 'second_person' }],
  waiting_payees: (first) => ['Show', [/^payer /.test(first) ? 'payers' : 'payees']],
  lowered_settings: () => ['Show the audit log', ['audit-log']],
  root_invitations: () => ['Show the audit log', ['audit-log']],
  same_account: (affiliate) => ['Show the affiliate', ['affiliates', affiliate]],
  open_questions: () => ['Answer', ['questions']],
  waiting_applications: () => ['Decide', ['applications']],
  unmanaged_affiliates: (affiliate) => ['Show the affiliate', ['affiliates', affiliate]],
  unconfigured_affiliates: () => ['Set up', ['affiliates']],
  refused_records: () => ['Show why', ['deliveries'], { outcome: 'refused' }],
  feed_late: () => ['Show the deliveries', ['deliveries']],
  failing_webhooks: () => ['Show the webhooks', ['webhooks']],
  failing_postbacks: (affiliate) => ['Show the affiliate', ['affiliates', affiliate]],
  held_records: () => ['Show what waits', ['held']],
  unmapped_statuses: () => ['Set the meaning', ['mappings']],
  expiring_credentials: () => ['Show the credentials', ['credentials']],
}

const ORDER = Object.keys(BUTTONS)

/** Renders what needs the attention of an account: a sentence and a button each. */
export const AttentionList = (
  { items, isDisabled }: { isDisabled: boolean; items: readonly Attention[] },
  { account } = useVisit(),
) => (
  <section class="attention">
    <h2>Needs attention</h2>
    {items.length === 0 && !isDisabled ? (
      <p>
        <Badge tone="good">Fine</Badge> Nothing needs attention.
      </p>
    ) : (
      <ul class="todo">
        {isDisabled && (
          <li>
            <p>
              <strong>The account is disabled.</strong> Its credentials are refused.
            </p>
            <a class="button" href={accountPath(account, 'account')}>
              Open the settings
            </a>
          </li>
        )}
        {items
          .toSorted((a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code))
          .map(({ code, names, detail, count: number }) => {
            const [text, path, query = {}] = BUTTONS[code](names[0] ?? '', number)
            return (
              <li>
                <p>
                  <Badge tone="warn">{count(number)}</Badge> <FormSentence text={detail} />
                </p>
                <a class="button" href={withQuery(accountPath(account, ...path), query)}>
                  {text}
                </a>
              </li>
            )
          })}
      </ul>
    )}
  </section>
)
