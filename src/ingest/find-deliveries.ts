import type { FoundPage, Page } from '../platform/db/paginate.ts'
import type { Delivery } from '../platform/db/schema.ts'
import { DAY_MS } from '../platform/durations.ts'
import { ApiError } from '../platform/errors.ts'
import type { Reader } from '../platform/http/operation.ts'
import { readChoice, readDays } from '../platform/http/query.ts'
import type { FormattedIssue } from '../platform/validation/messages.ts'
import { pickKey } from '../platform/validation/strict-object.ts'
import type { Decision } from './db/decide.ts'
import {
  type DeliveryFilter,
  type DeliverySummary,
  findDelivery,
  listDeliveries,
} from './db/deliveries.ts'
import { readStoredRecords, type StoredRecord } from './db/stored-record.ts'
import { DELIVERY_LOG_MS, deliveryTime, firstIdAt } from './delivery-id.ts'
import { shortenLogged } from './errors.ts'
import type { Resource } from './resource/resource.ts'

/** The parameters that narrow a list of deliveries. */
interface DeliveryQuery extends DeliveryFilter {
  readonly from?: string
  readonly to?: string
}

/** Sorts after the ids of all deliveries. */
const END = 'dlv_~'

/**
 * Returns the ids between which a query looks at `now` (milliseconds); `after` is the cursor at which the page begins.
 *
 * @throws ApiError `invalid_query`
 */
function deliverySpan(query: DeliveryQuery, after: string | null, now: number) {
  const { from, to } = readDays(query)
  const oldest = now - DELIVERY_LOG_MS
  return {
    oldest: firstIdAt(from === undefined ? oldest : Math.max(oldest, Date.parse(from))),
    end: after ?? (to === undefined ? END : firstIdAt(Date.parse(to) + DAY_MS)),
  }
}

/**
 * Finds the deliveries of an account that a query asks for, as the API shows them. With a record id, these are the ones
 * that refused a record with that id, each with the errors of that record, and the one that stored it.
 *
 * @throws ApiError `invalid_query`
 */
export async function findDeliveries(
  { grant: { account }, session }: Reader,
  resources: readonly Resource[],
  query: DeliveryQuery,
  page: Page,
): Promise<FoundPage<ReturnType<typeof presentFound>>> {
  const { record_id, outcome } = query
  const names = resources.map(({ name }) => name)
  const stored =
    record_id === undefined ? [] : await readStoredRecords(session, resources, account, record_id)
  const filter = {
    resource: readChoice('resource', query.resource, names),
    outcome,
    record_id: record_id && shortenLogged(record_id),
    stored_by: stored.map(({ delivery }) => delivery),
  }
  const span = deliverySpan(query, page.after && String(page.after[0]), Date.now())
  const found = await listDeliveries(session, account, filter, span, page)
  const records = stored.map((one) => ({ by: one.delivery, ...presentStored(one, resources) }))
  return { ...found, data: found.data.map((one) => presentFound(one, records)) }
}

/** Returns a stored record as a delivery names it. */
function presentStored(stored: StoredRecord, resources: readonly Resource[]) {
  const { key = [], loggedKey = [] } = resources.find(({ name }) => name === stored.resource) ?? {}
  const members = pickKey(stored.record, key) ?? pickKey(stored.record, loggedKey) ?? {}
  return {
    index: stored.idx,
    key: Object.fromEntries(
      Object.entries(members).map(([name, value]) => [name, shortenLogged(value)]),
    ),
    outcome: outcomeOfStored(stored),
    errors: [],
  }
}

type FoundStored = ReturnType<typeof presentStored> & { by: string }

/** Returns a delivery as lists show it, with the records that were searched for. */
function presentFound(
  { found_errors, ...delivery }: DeliverySummary,
  stored: readonly FoundStored[],
) {
  if (found_errors === undefined) return presentDelivery(delivery)
  const errors: FormattedIssue[] = JSON.parse(found_errors)
  const byIndex = Map.groupBy(errors, ({ index }) => index)
  const rejected = [...byIndex].map(([index, own]) => {
    const { key = {} } = own[0] ?? {}
    const outcome = 'rejected' as const
    return { ...(index !== undefined && { index }), key, outcome, errors: own }
  })
  const written = stored.flatMap(({ by, ...record }) => (by === delivery.id ? [record] : []))
  return { ...presentDelivery(delivery), records: [...rejected, ...written] }
}

/** Returns what the last delivery of a stored record made of it. */
export const outcomeOfStored = ({
  revision,
  held,
}: Pick<StoredRecord, 'revision' | 'held'>): 'created' | 'updated' | 'held' =>
  held === 1 ? 'held' : revision === 1 ? 'created' : 'updated'

const NO_DELIVERY =
  'This account has no delivery with this id. The log keeps deliveries for 30 days, and at most 16 MiB of rejected requests and dry runs a day (UTC).'

/**
 * Reads one delivery of an account.
 *
 * @throws ApiError `not_found`
 */
export async function readDelivery({ grant, session }: Reader, id: string): Promise<Delivery> {
  const delivery = await findDelivery(session, grant.account, oldestId(), id)
  if (!delivery) throw new ApiError('not_found', { detail: NO_DELIVERY })
  return delivery
}

/** Returns a delivery as the API shows it in full. */
export function presentInFull(delivery: Delivery) {
  const errors: FormattedIssue[] = JSON.parse(delivery.errors ?? '[]')
  const isCut = errors.length === 0 && delivery.errors_total > 0
  return {
    ...presentDelivery(delivery),
    errors,
    ...(isCut && { errors_not_kept: true as const }),
  }
}

/** Returns an id before those of all deliveries that the log still shows. */
const oldestId = () => firstIdAt(Date.now() - DELIVERY_LOG_MS)

/** Returns a time in milliseconds as the API shows it. */
export const toIsoTime = (ms: number): string => new Date(ms).toISOString()

/** Returns a delivery as lists show it. */
export const presentDelivery = (delivery: DeliverySummary) => ({
  delivery_id: delivery.id,
  received_at: toIsoTime(deliveryTime(delivery.id)),
  resource: delivery.resource,
  status: delivery.status as Decision['status'],
  dry_run: delivery.dry_run === 1,
  summary: JSON.parse(delivery.summary) as Decision['summary'],
  errors_total: delivery.errors_total,
})
