import type { listDeliveries } from '../../ingest/operations/deliveries.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import type { FormattedIssue } from '../../platform/validation/messages.ts'
import { accountPath, withQuery } from '../base/page.ts'
import { Badge, Sentence, titleOf, visible } from './data.tsx'
import { errorWords, nameOf } from './plain-words.ts'

// The parts of pages that show deliveries and their errors.

type Delivery = Pick<
  AnswerOf<typeof listDeliveries>['data'][number],
  'status' | 'dry_run' | 'summary'
>

/** Returns what a resource is called: `Trading activity` for `trading-activity`. */
export const resourceTitle = (name: string): string => titleOf(name.replaceAll('-', ' '))

/** Returns the path of the deliveries of an account that a query finds. */
export const deliveriesPath = (account: string, query: Parameters<typeof withQuery>[1] = {}) =>
  withQuery(accountPath(account, 'deliveries'), query)

/** Renders the result of a delivery. */
export function DeliveryBadge({ delivery }: { delivery: Delivery }) {
  const { status, dry_run, summary } = delivery
  const refused = summary.rejected.toLocaleString('en')
  const badge = [
    status === 422 && <Badge tone="bad">Refused</Badge>,
    status === 207 && <Badge tone="warn">{refused} refused</Badge>,
    status < 207 && <Badge tone="good">Accepted</Badge>,
  ]
  return (
    <>
      {badge} {dry_run && <Badge tone="quiet">Dry run</Badge>}
    </>
  )
}

/** Renders the errors of one record: what was wrong, where, and what to send instead. */
export const Errors = ({ errors }: { errors: readonly FormattedIssue[] }) => (
  <ul class="errors">
    {errors.map((error) => {
      const { message, hint } = errorWords(error)
      return (
        <li>
          <Sentence text={message} />{' '}
          {hint && (
            <span class="quiet">
              <Sentence text={hint} />
            </span>
          )}{' '}
          <small>{placeOf(error.pointer)}</small>
        </li>
      )
    })}
  </ul>
)

/**
 * Returns the place of an error in words: `record 4 › Amount` for the pointer `/3/amount_currency`, and `whole body` for
 * the empty one. A `*` at the beginning stands for any record.
 */
export function placeOf(pointer: string): string {
  const names = pointer
    .replace(/^\/\*(?=\/)/, '')
    .split('/')
    .slice(1)
  const words = names.map((name, i) => {
    if (/^\d+$/.test(name)) return i === 0 ? `record ${Number(name) + 1}` : `${Number(name) + 1}`
    return visible(nameOf(name.replaceAll('~1', '/').replaceAll('~0', '~')))
  })
  return words.join(' › ') || 'whole body'
}

/** Renders the form that finds an affiliate, or the history of one record. */
export const FindRecord = ({ account, id = '' }: { account: string; id?: string | undefined }) => (
  <search>
    <form method="get" action={accountPath(account, 'find')} class="find">
      <input
        name="record_id"
        type="search"
        value={id}
        required
        autocomplete="off"
        spellcheck={false}
        aria-label="Find a record or an affiliate by its id"
        placeholder="An id, a name or an email"
      />
      <button type="submit">Find</button>
    </form>
  </search>
)
