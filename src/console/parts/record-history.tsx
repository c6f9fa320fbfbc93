import type { listDeliveries } from '../../admin/deliveries.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { accountPath, useVisit } from '../page.ts'
import { Badge, count, Data, EmptyState, Time } from './data.tsx'
import { deliveriesPath, Errors, resourceTitle } from './deliveries.tsx'

// The part of the deliveries page that shows the history of one record: each delivery that had it.

/** A page of deliveries; with a record id, also the stored records that have it. */
export type DeliveryList = AnswerOf<typeof listDeliveries>

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

/** Renders what the deliveries of the last 30 days made of a record. */
export const Deliveries = (props: { account: string; rows: DeliveryList['data'] }) => (
  <>
    {props.rows.map((found) => (
      <article class="record-history">
        <h2>
          {toDelivery(props.account, found)} {resourceTitle(found.resource)}
        </h2>
        {found.records?.map(({ outcome, index, errors = [] }) => (
          <>
            <p>
              <Badge tone={outcome === 'rejected' ? 'bad' : outcome === 'held' ? 'warn' : 'good'}>
                {outcome === 'rejected' ? 'refused' : outcome}
              </Badge>{' '}
              {index !== undefined && `record ${index + 1} of ${count(found.summary.received)}`}
            </p>
            {errors.length > 0 && <Errors errors={errors} />}
            {outcome === 'held' && (
              <p>
                Its customer has not arrived.{' '}
                <a href={accountPath(props.account, 'held')}>Held records</a>
              </p>
            )}
          </>
        ))}
      </article>
    ))}
  </>
)

/** Renders the history of a record: whether it is stored, and its outcome in each delivery. */
export function RecordHistory({ list }: { list: DeliveryList }, { account, query } = useVisit()) {
  const { stored = [], data } = list
  if (stored.length + data.length === 0) {
    return (
      <EmptyState
        title={
          <>
            No record with the id <Data text={query.record_id ?? ''} /> has arrived in 30 days.
          </>
        }
      >
        <p>
          Ids are case-sensitive. If it was sent, look at the{' '}
          <a href={deliveriesPath(account, { status: 'refused' })}>deliveries that were refused</a>:
          a damaged delivery has no ids.
        </p>
      </EmptyState>
    )
  }
  return (
    <>
      {stored.length === 0 && <p>No record with this id is stored.</p>}
      {stored.map((one) => (
        <p>
          {resourceTitle(one.resource)}: a record with this id is{' '}
          {one.outcome === 'held' ? 'held' : 'stored'}, as it arrived at {toDelivery(account, one)}.
        </p>
      ))}
      <Deliveries account={account} rows={data} />
    </>
  )
}
