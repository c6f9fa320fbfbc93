import { getDelivery, listDeliveryRefused } from '../../admin/deliveries.ts'
import { OUTCOMES } from '../../db/records/decide.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { accountPath, type Page, useVisit } from '../page.ts'
import { count, Data, EmptyState, Pager, Time } from '../parts/data.tsx'
import {
  DeliveryBadge,
  deliveriesPath,
  Errors,
  ErrorText,
  placeOf,
  resourceTitle,
} from '../parts/deliveries.tsx'
import { errorTitle } from '../parts/error-words.ts'
import { AccountLink } from '../parts/fields.tsx'
import { labelOf } from '../parts/record-fields.tsx'
import { Table } from '../parts/table.tsx'

// The parts of the page of a delivery that show why records were refused, and where to find the others.

type DeliveryInFull = AnswerOf<typeof getDelivery>
type RefusedList = AnswerOf<typeof listDeliveryRefused>

const Groups = ({ account, delivery }: { account: string; delivery: DeliveryInFull }) => (
  <Table
    caption="The same error is one row"
    rows={delivery.error_groups}
    columns={{
      'What is wrong': ({ example }) => <ErrorText error={example} />,
      Where: ({ pointer }) => <span class="place">{placeOf(pointer)}</span>,
      Records: { number: (group) => <a href="#refused">{count(group.count)}</a> },
      'In other deliveries': ({ code }) => (
        <a href={deliveriesPath(account, { code, resource: delivery.resource })}>
          {errorTitle(code)}
        </a>
      ),
    }}
  />
)

const Key = ({
  account,
  record: { key = {}, index },
}: {
  account: string
  record: RefusedList['data'][number]
}) => (
  <>
    {Object.entries(key).map(([name, id]) => (
      <>
        <a href={deliveriesPath(account, { record_id: id })} title={labelOf(name)}>
          <Data text={id} />
        </a>{' '}
      </>
    ))}
    <small>{index === undefined ? 'The whole body' : `Record ${index + 1}`}</small>
  </>
)

const RefusedRecords = ({ list }: { list: RefusedList }, visit = useVisit()) => (
  <section id="refused">
    <h2>Refused records</h2>
    <Table
      caption="Each record with its errors"
      rows={list.data}
      columns={{
        Record: (record) => <Key account={visit.account} record={record} />,
        Errors: ({ errors }) => <Errors errors={errors} />,
      }}
    />
    <Pager meta={list.meta} />
  </section>
)

/** Renders how a member gets a value that the log does not keep. */
const AskSender = () => (
  <>
    Ask the sender for it by the id above, or to send the records again as a dry run, which stores
    nothing.
  </>
)

interface RefusalsProps {
  readonly delivery: DeliveryInFull
  readonly refused: RefusedList
}

/** Renders why records of a delivery were refused. */
const Refusals = ({ delivery, refused }: RefusalsProps, visit = useVisit()) => (
  <>
    <h2>Why records were refused</h2>
    {delivery.errors_not_kept ? (
      <EmptyState title="The errors of this delivery are not kept.">
        <p>
          The log of an account keeps 16 MiB of errors a day. The response to the sender had them.{' '}
          <AskSender />
        </p>
      </EmptyState>
    ) : (
      <>
        <Groups account={visit.account} delivery={delivery} />
        <p>
          The log keeps no values, because any may be personal. The response to the sender quotes
          those that are not. <AskSender />
        </p>
        <RefusedRecords list={refused} />
      </>
    )}
  </>
)

/** Renders where to find the records that the delivery stored; nothing if it stored none. */
function Stored({ delivery: { dry_run, status, summary } }: Omit<RefusalsProps, 'refused'>) {
  const { received, rejected, held } = summary
  if (dry_run || status === 422 || received === rejected + held) return null
  return (
    <p>
      The log counts records and keeps none. Find a stored one by its id above, or on the page of
      its <AccountLink at={['customers']} children="customer" />.
    </p>
  )
}

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
  path: '/accounts/:account/deliveries/:delivery_id',
  section: 'Deliveries',
  query: ['cursor'],
  async render(visit) {
    const { api, account, params, query } = visit
    const own = { account, delivery_id: params.delivery_id ?? '' }
    const [delivery, refused] = await Promise.all([
      api.call(getDelivery, own),
      api.call(listDeliveryRefused, { ...own, ...query }),
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
          <Refusals delivery={delivery} refused={refused} />
        ) : (
          <p>Nothing was refused.</p>
        )}
        <Stored delivery={delivery} />
        <ResponseToSender delivery={delivery} />
      </>
    )
    return { title: 'Delivery', body }
  },
}
