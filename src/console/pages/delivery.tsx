import type { RefusedRecord } from '../../ingest/delivery-errors.ts'
import { accountPath, apiPath, type Page } from '../page.ts'
import { count, type List, Time } from '../parts/data.tsx'
import { DeliveryBadge, OUTCOMES, resourceTitle } from '../parts/deliveries.tsx'
import { type DeliveryInFull, Refusals, Stored } from '../parts/refusals.tsx'

/** What outcomes mean, as far as their names do not say it. */
const MEANINGS: Partial<Record<string, string>> = {
  unchanged: 'sent before with the same content',
  stale: 'older than what is stored',
  held: 'waiting for their customer',
  rejected: 'refused, not stored',
}

const Summary = ({ account, delivery }: { account: string; delivery: DeliveryInFull }) => {
  const { summary, dry_run } = delivery
  const to: Partial<Record<string, string>> = {
    held: accountPath(account, 'held'),
    rejected: '#refused',
  }
  return (
    <dl class="figures">
      <div>
        <dt>records</dt>
        <dd>{count(summary.received)}</dd>
      </div>
      {OUTCOMES.map((name) => (
        <div>
          <dt title={MEANINGS[name]}>{name === 'rejected' ? 'refused' : name}</dt>
          <dd>
            {summary[name] > 0 && to[name] && !dry_run ? (
              <a href={to[name]}>{count(summary[name])}</a>
            ) : (
              count(summary[name])
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Renders the response that the sender got, without the values of records. */
const ResponseToSender = ({ delivery }: { delivery: DeliveryInFull }) => {
  const { status, delivery_id, dry_run, summary, errors, errors_total } = delivery
  const answer = { delivery_id, ...(dry_run && { dry_run }), summary, errors, errors_total }
  return (
    <details>
      <summary>As the sender saw it: the response {status}, without values of records</summary>
      <pre tabindex={0}>{JSON.stringify(answer, null, 2)}</pre>
    </details>
  )
}

/** One delivery: what was refused, where and why. */
export const deliveryPage: Page = {
  path: '/accounts/:account/deliveries/:delivery',
  section: 'Deliveries',
  query: ['cursor'],
  async render(visit) {
    const { api, account, params, query } = visit
    const path = apiPath(account, 'deliveries', params.delivery ?? '')
    const [delivery, refused] = await Promise.all([
      api.get<DeliveryInFull>(path),
      api.get<List<RefusedRecord>>(`${path}/refused`, query),
    ])
    const body = (
      <>
        <p class="lead">
          <DeliveryBadge delivery={delivery} /> {resourceTitle(delivery.resource)},{' '}
          <Time at={delivery.received_at} />
        </p>
        <p class="quiet">
          <code>{delivery.delivery_id}</code>
        </p>
        <Summary account={account} delivery={delivery} />
        {delivery.status === 422 && <p>Nothing of this delivery was stored.</p>}
        {delivery.errors_total > 0 ? (
          <Refusals visit={visit} delivery={delivery} refused={refused} />
        ) : (
          <p>Nothing was refused.</p>
        )}
        <Stored visit={visit} delivery={delivery} />
        <ResponseToSender delivery={delivery} />
      </>
    )
    return { title: 'Delivery', body }
  },
}
