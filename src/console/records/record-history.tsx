import type { listDeliveries } from '../../ingest/operations/deliveries.ts'
import { accountPath, useVisit } from '../../pages/base/page.ts'
import { Badge, count, Data, EmptyState, Time } from '../../pages/parts/data.tsx'
import { deliveriesPath, Errors, resourceTitle } from '../../pages/parts/deliveries.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'

// The part of the deliveries page that shows the history of one record: each delivery that had it.

/** A page of deliveries. */
type DeliveryList = AnswerOf<typeof listDeliveries>

type Found = DeliveryList['data'][number]

/** Renders a link to a delivery, by the time at which it arrived. */
export const toDelivery = (
  account: string,
  { delivery_id, received_at }: Pick<Found, 'delivery_id' | 'received_at'>,
) => (
  <a href={accountPath(account, 'deliveries', delivery_id)}>
    <Time at={received_at} />
  </a>
)

/** Renders the deliveries of the last 30 days that refused a record, or stored it. */
export const Deliveries = (props: { account: string; rows: DeliveryList['data'] }) => (
  <>
    {props.rows.map((found) => (
      <article class="record-history">
        <h2>
          {toDelivery(props.account, found)} {resourceTitle(found.resource)}
        </h2>
        {found.records?.map(({ index, outcome, errors }) => (
          <>
            <p>
              {outcome === 'rejected' ? (
                <Badge tone="bad">refused</Badge>
              ) : (
                <Badge tone="good">{outcome}</Badge>
              )}{' '}
              {index !== undefined && `record ${index + 1} of ${count(found.summary.received)}`}
            </p>
            <Errors errors={errors} />
          </>
        ))}
      </article>
    ))}
  </>
)

/** Renders the deliveries that refused a record, or stored it. */
export const RecordHistory = (
  { rows }: { rows: DeliveryList['data'] },
  { account, query } = useVisit(),
) =>
  rows.length > 0 ? (
    <Deliveries account={account} rows={rows} />
  ) : (
    <EmptyState
      title={
        <>
          No record with the id <Data text={query.record_id ?? ''} /> was stored or refused in 30
          days.
        </>
      }
    >
      <p>
        Ids are case-sensitive. If it was sent, look at the{' '}
        <a href={deliveriesPath(account, { outcome: 'refused' })}>deliveries that were refused</a>:
        a damaged delivery has no ids, and the log does not name the right records of a refused
        delivery.
      </p>
    </EmptyState>
  )
