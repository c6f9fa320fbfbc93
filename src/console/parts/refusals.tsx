import type { RefusedRecord } from '../../ingest/delivery-errors.ts'
import type { presentInFull } from '../../ingest/find-deliveries.ts'
import type { Visit } from '../page.ts'
import { count, Data, EmptyState, type List, Pager, Table } from './data.tsx'
import { deliveriesPath, Errors, ErrorText, placeOf } from './deliveries.tsx'
import { errorTitle } from './error-words.ts'
import { AccountLink } from './fields.tsx'
import { labelOf } from './record-fields.tsx'

// The parts of the page of a delivery that show why records were refused, and where to find the others.

/** A delivery as the administration API shows one. */
export type DeliveryInFull = ReturnType<typeof presentInFull>

const Groups = ({ account, delivery }: { account: string; delivery: DeliveryInFull }) => (
  <Table
    caption="The same error is one row"
    rows={delivery.error_groups}
    columns={[
      { title: 'What is wrong', cell: ({ example }) => <ErrorText error={example} /> },
      {
        title: 'Where',
        cell: ({ pointer }) => <span class="place">{placeOf(pointer)}</span>,
      },
      {
        title: 'Records',
        isNumeric: true,
        cell: (group) => <a href="#refused">{count(group.count)}</a>,
      },
      {
        title: 'In other deliveries',
        cell: ({ code }) => (
          <a href={deliveriesPath(account, { code, resource: delivery.resource })}>
            {errorTitle(code)}
          </a>
        ),
      },
    ]}
  />
)

const Key = ({
  account,
  record: { key = {}, index },
}: {
  account: string
  record: RefusedRecord
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

const RefusedRecords = ({ visit, list }: { visit: Visit; list: List<RefusedRecord> }) => (
  <section id="refused">
    <h2>RefusedRecord records</h2>
    <Table
      caption="Each record with its errors"
      rows={list.data}
      columns={[
        { title: 'Record', cell: (record) => <Key account={visit.account} record={record} /> },
        { title: 'Errors', cell: ({ errors }) => <Errors errors={errors} /> },
      ]}
    />
    <Pager visit={visit} meta={list.meta} />
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
  readonly visit: Visit
  readonly delivery: DeliveryInFull
  readonly refused: List<RefusedRecord>
}

/** Renders why records of a delivery were refused. */
export const Refusals = ({ visit, delivery, refused }: RefusalsProps) => (
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
        <RefusedRecords visit={visit} list={refused} />
      </>
    )}
  </>
)

/** Renders where to find the records that the delivery stored; nothing if it stored none. */
export function Stored({
  visit,
  delivery: { dry_run, status, summary },
}: Omit<RefusalsProps, 'refused'>) {
  const { received, rejected, held } = summary
  if (dry_run || status === 422 || received === rejected + held) return null
  return (
    <p>
      The log counts records and keeps none. Find a stored one by its id above, or on the page of
      its <AccountLink visit={visit} at={['customers']} children="customer" />.
    </p>
  )
}
