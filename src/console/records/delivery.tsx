import { OUTCOMES } from '../../ingest/db/item.ts'
import { getDelivery } from '../../ingest/operations/deliveries.ts'
import { accountPath, type Page } from '../../pages/base/page.ts'
import { count, Data, EmptyState, Time, titleOf } from '../../pages/parts/data.tsx'
import { DeliveryBadge, Errors, resourceTitle } from '../../pages/parts/deliveries.tsx'
import { type Pair, Pairs } from '../../pages/parts/fields.tsx'
import { labelOf } from '../../pages/parts/record-fields.tsx'
import { findPath } from '../../pages/parts/record-lookup.ts'
import { Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'

type ListedError = AnswerOf<typeof getDelivery>['errors'][number]

const Key = ({
  account,
  record: { key = {}, index },
}: {
  account: string
  record: Pick<ListedError, 'key' | 'index'>
}) => (
  <>
    {Object.entries(key).map(([name, id]) => (
      <>
        <a href={findPath(account, id)} title={labelOf(name)}>
          <Data text={id} />
        </a>{' '}
      </>
    ))}
    <small>{index === undefined ? 'The whole body' : `Record ${index + 1}`}</small>
  </>
)

/** One delivery: what was refused, where and why. */
export const deliveryPage: Page = {
  path: '/accounts/:account/deliveries/:delivery_id',
  shows: 'account',
  section: 'Deliveries',
  async render(visit) {
    const { api, account, params } = visit
    const delivery = await api.call(getDelivery, {
      account,
      delivery_id: params.delivery_id ?? '',
    })
    const { errors } = delivery
    const refused = [...Map.groupBy(errors, ({ index }) => index).values()]
    const to: Partial<Record<string, string>> = {
      held: accountPath(account, 'held'),
      rejected: '#refused',
    }
    const body = (
      <>
        <p class="lead">
          <DeliveryBadge delivery={delivery} /> {resourceTitle(delivery.resource)},{' '}
          <Time at={delivery.received_at} />
        </p>
        <p class="quiet">
          <code>{delivery.delivery_id}</code>
        </p>
        <Pairs
          pairs={[
            ['Records', count(delivery.summary.received)],
            ...OUTCOMES.map((name): Pair => {
              const number = delivery.summary[name]
              const text = count(number)
              return [
                name === 'rejected' ? 'Refused' : titleOf(name),
                number > 0 && to[name] && !delivery.dry_run ? <a href={to[name]}>{text}</a> : text,
              ]
            }),
            ['Not stored', count(delivery.summary.not_stored)],
          ]}
        />
        {delivery.status === 422 && <p>Nothing of this delivery was stored.</p>}
        {delivery.errors_total > 0 ? (
          <>
            <h2>Why records were refused</h2>
            {delivery.errors_not_kept ? (
              <EmptyState title="The errors of this delivery are not kept.">
                <p>
                  The log of an account keeps 16 MiB of errors a day. The response to the sender had
                  them.
                </p>
              </EmptyState>
            ) : (
              <>
                <p>
                  The log keeps no values, because any may be personal. Ask the sender for them by
                  the id below.
                </p>
                <section id="refused">
                  <h2>Refused records</h2>
                  <Table
                    caption={
                      errors.length < delivery.errors_total
                        ? `The first ${count(errors.length)} of ${count(delivery.errors_total)} errors`
                        : 'Each record with its errors'
                    }
                    rows={refused}
                    columns={{
                      Record: ([first = {}]) => <Key account={visit.account} record={first} />,
                      Errors: (own) => <Errors errors={own} />,
                    }}
                  />
                </section>
              </>
            )}
          </>
        ) : (
          <p>Nothing was refused.</p>
        )}
      </>
    )
    return { title: 'Delivery', body }
  },
}
