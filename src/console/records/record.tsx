import { getEarnings } from '../../commission/why/operations.ts'
import { listDeliveries } from '../../ingest/operations/deliveries.ts'
import { findRecords } from '../../ingest/operations/records.ts'
import { NO_RECORD } from '../../ingest/record-operations.ts'
import type { Page } from '../../pages/base/page.ts'
import { Badge, count, isolated, Time } from '../../pages/parts/data.tsx'
import { Deferred } from '../../pages/parts/deferred.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { nounOf, RecordFields } from '../../pages/parts/record-fields.tsx'
import type { FoundRecord } from '../../pages/parts/record-lookup.ts'
import { ApiError } from '../../platform/errors.ts'
import { CustomerLink } from './customer-parts.tsx'
import { renderEarnings } from './record-earnings.tsx'
import { Deliveries } from './record-history.tsx'

/** The fields that are links above the others, or that the title has. */
const ABOVE = ['transaction_id', 'transaction_type', 'customer_id', 'customerid', 'eventname']

/** Returns the id that senders gave a record; undefined if it has none. */
const sentId = ({ record }: FoundRecord): string | undefined => {
  const id = record.transaction_id ?? record.eventid
  return typeof id === 'string' ? id : undefined
}

/** One record: what was sent, what it earned or why it earned nothing, and its deliveries. */
export const recordPage: Page = {
  path: '/accounts/:account/records/:resource/:id',
  shows: 'affiliate',
  section: 'Customers',
  async render(visit) {
    const { account, params } = visit
    const { resource = '', id = '' } = params
    // The id of an event is stored behind a letter; the log of deliveries has it as it was sent.
    const logged = resource === 'activities' ? id.replace(/^e /, '') : id
    const [{ data: records }, history] = await Promise.all([
      visit.api.call(findRecords, { account, id }),
      visit.api.may(listDeliveries)
        ? visit.api.call(listDeliveries, { account, record_id: logged, outcome: 'refused' })
        : { data: [] },
    ])
    const found = records.find((one) => one.resource === resource && one.id === id)
    if (!found) throw new ApiError('not_found', { detail: NO_RECORD })
    const noun = nounOf(resource, found.record)
    const others = records.filter((one) => one !== found)
    const customer = <CustomerLink account={account} id={found.customer_id} />
    const body = (
      <>
        {found.outcome === 'held' && (
          <p>
            <Badge tone="warn">Held</Badge> It waits for its customer.
          </p>
        )}
        <RecordFields record={found.record} except={ABOVE} first={[['Customer', customer]]} />
        {visit.api.may(getEarnings) && (
          <section id="earned">
            <h2>What it earned</h2>
            <Deferred part={() => renderEarnings(visit, found)} />
          </section>
        )}
        <h2>How it arrived</h2>
        <p>
          {found.revision > 1
            ? `Written ${count(found.revision)} times, the last time by `
            : 'Stored by '}
          <AccountLink at={['deliveries', found.delivery_id]}>
            the delivery of <Time at={found.received_at} />
          </AccountLink>
          .
        </p>
        <Deliveries account={account} rows={history.data} />
        {others.length > 0 && (
          <p>
            <AccountLink at={['find']} query={{ record_id: logged }}>
              Other records have this id, too.
            </AccountLink>
          </p>
        )}
      </>
    )
    const name = sentId(found)
    return { title: name === undefined ? noun : `${noun} ${isolated(name)}`, body }
  },
}
