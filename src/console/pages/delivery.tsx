import { accountPath, apiPath, type Page, type Visit } from '../page.ts'
import { count, EmptyState, type List, Pager, Table, Time } from '../parts/data.tsx'
import {
  type Delivery,
  DeliveryBadge,
  deliveriesPath,
  Errors,
  ErrorText,
  OUTCOMES,
  type RecordError,
} from '../parts/deliveries.tsx'
import { To } from '../parts/fields.tsx'

interface ErrorGroup {
  readonly code: string
  readonly pointer: string
  readonly count: number
  readonly example: RecordError
}

interface DeliveryInFull extends Delivery {
  readonly errors: readonly RecordError[]
  readonly error_groups: readonly ErrorGroup[]
  readonly errors_not_kept?: true
}

interface Refused {
  readonly index?: number
  readonly key?: Readonly<Record<string, string>>
  readonly errors: readonly RecordError[]
}

/** The outcomes that have a meaning beyond their name. */
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

const Groups = ({ account, delivery }: { account: string; delivery: DeliveryInFull }) => (
  <Table
    caption="The same error is one row"
    rows={delivery.error_groups}
    columns={[
      { title: 'What is wrong', of: ({ example }) => <ErrorText error={example} /> },
      {
        title: 'Where',
        of: ({ pointer }) => <code class="pointer">{pointer || 'the whole body'}</code>,
      },
      {
        title: 'Records',
        isNumeric: true,
        of: (group) => <a href="#refused">{count(group.count)}</a>,
      },
      {
        title: 'In other deliveries',
        of: ({ code }) => (
          <a href={deliveriesPath(account, { code, resource: delivery.resource })}>
            <code>{code}</code>
          </a>
        ),
      },
    ]}
  />
)

const Key = ({ account, record: { key = {}, index } }: { account: string; record: Refused }) => (
  <>
    {Object.entries(key).map(([name, id]) => (
      <>
        <a href={deliveriesPath(account, { record_id: id })} title={name}>
          <bdi>{id}</bdi>
        </a>{' '}
      </>
    ))}
    <small>{index === undefined ? 'The whole body' : `Record ${index + 1}`}</small>
  </>
)

const RefusedRecords = ({ visit, list }: { visit: Visit; list: List<Refused> }) => (
  <section id="refused">
    <h2>Refused records</h2>
    <Table
      caption="Each record with its errors"
      rows={list.data}
      columns={[
        { title: 'Record', of: (record) => <Key account={visit.account} record={record} /> },
        { title: 'Errors', of: ({ errors }) => <Errors errors={errors} /> },
      ]}
    />
    <Pager visit={visit} meta={list.meta} />
  </section>
)

/** Renders what the sender got, in the order of the response. */
const AsSent = ({ delivery }: { delivery: DeliveryInFull }) => {
  const { status, delivery_id, dry_run, summary, errors, errors_total } = delivery
  const answer = { delivery_id, ...(dry_run && { dry_run }), summary, errors, errors_total }
  return (
    <details>
      <summary>As the sender saw it: the response {status}, without values of records</summary>
      <pre tabindex={0}>{JSON.stringify(answer, null, 2)}</pre>
    </details>
  )
}

const Ask = () => (
  <>
    Ask the sender for it by the id above, or to repeat the request with <code>dry_run=true</code>.
  </>
)

const Refusals = ({ visit, delivery, refused }: RefusalsProps) => (
  <>
    <h2>Why records were refused</h2>
    {delivery.errors_not_kept ? (
      <EmptyState title="The errors of this delivery are not kept.">
        <p>
          The log of an account keeps 16 MiB of errors a day. The response to the sender had them.{' '}
          <Ask />
        </p>
      </EmptyState>
    ) : (
      <>
        <Groups account={visit.account} delivery={delivery} />
        <p>
          The log keeps no values, because any may be personal. The response to the sender quotes
          those that are not. <Ask />
        </p>
        <RefusedRecords visit={visit} list={refused} />
      </>
    )}
  </>
)

/** Renders where the records are that the delivery brought. */
function Stored({ visit, delivery: { dry_run, status, summary } }: Omit<RefusalsProps, 'refused'>) {
  const { received, rejected, held } = summary
  if (dry_run || status === 422 || received === rejected + held) return null
  return (
    <p>
      The log counts records and keeps none. Find a stored one by its id above, or on the page of
      its <To visit={visit} at={['customers']} children="customer" />.
    </p>
  )
}

interface RefusalsProps {
  readonly visit: Visit
  readonly delivery: DeliveryInFull
  readonly refused: List<Refused>
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
      api.get<List<Refused>>(`${path}/refused`, query),
    ])
    const body = (
      <>
        <p class="lead">
          <DeliveryBadge delivery={delivery} /> {delivery.resource},{' '}
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
        <AsSent delivery={delivery} />
      </>
    )
    return { title: 'Delivery', body }
  },
}
