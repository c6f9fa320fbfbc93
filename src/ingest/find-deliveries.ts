import { dayText } from '../db/column-types.ts'
import type { FoundPage, Page } from '../db/paginate.ts'
import { type DeliverySummary, findDelivery, listDeliveries } from '../db/records/deliveries.ts'
import { type FoundDelivery, searchDeliveries } from '../db/records/delivery-search.ts'
import type {
  DeliveryFilter,
  DeliverySpan,
  DeliveryStatus,
} from '../db/records/delivery-search-sql.ts'
import { shortenLogged } from '../db/records/list.ts'
import { findStoredRecords, type StoredRecord } from '../db/records/stored-record.ts'
import type { Delivery } from '../db/schema.ts'
import { shortId } from '../db/short-id.ts'
import { DAY_MS } from '../durations.ts'
import { ApiError } from '../errors.ts'
import type { Reader } from '../http/operation.ts'
import { invalidQuery, invalidValue, readChoice, VALID_DATE } from '../http/query.ts'
import { parseAnyInstant, parseDay } from '../validation/calendar.ts'
import { ISSUE_CODES } from '../validation/issue.ts'
import { groupErrors, readErrors, refusedRecords } from './delivery-errors.ts'
import { DELIVERY_LOG_MS, deliveryTime, firstIdAt } from './delivery-id.ts'
import type { Resource } from './resource.ts'
import { statusOf, summaryOf } from './response.ts'

/** The parameters that narrow a list of deliveries. */
interface DeliveryQuery {
  readonly resource?: string
  readonly status?: DeliveryStatus
  readonly code?: string
  readonly record_id?: string
  readonly from?: string
  readonly to?: string
}

/**
 * Returns the filter of a query. It has the forms of the record id; `stored` is filled in later.
 *
 * @throws ApiError `invalid_query`
 */
function deliveryFilter(
  { resource, status, code, record_id }: DeliveryQuery,
  resources: readonly Resource[],
): DeliveryFilter {
  const filter = {
    resource: readChoice(
      'resource',
      resource,
      resources.map(({ name }) => name),
    ),
    status,
    code: readChoice('code', code, ISSUE_CODES),
    recordIds: record_id === undefined ? undefined : loggedForms(record_id),
  }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}

/** The prefix of the stored id of an event that was sent with an id. */
const EVENT_PREFIX = 'e '

/** Returns the forms in which the log may have an id: whole or shortened, as sent or as stored. */
const loggedForms = (id: string): string[] => [
  ...new Set([
    shortenLogged(id),
    shortenLogged(shortId(id)),
    shortenLogged(EVENT_PREFIX + id).slice(EVENT_PREFIX.length),
  ]),
]

/** Sorts after the ids of all deliveries. */
const END = 'dlv_~'

/**
 * Returns the span of a query at `now` (milliseconds). `from` and `to` are days (UTC) or date-times, both
 * inclusive; `after` is the cursor at which the page begins.
 *
 * @throws ApiError `invalid_query`
 */
function deliverySpan(
  { from, to }: DeliveryQuery,
  after: string | null,
  now: number,
): DeliverySpan {
  const oldestTime = now - DELIVERY_LOG_MS
  const fromTime = from === undefined ? oldestTime : timeOf('from', from, 0)
  const endTime = to === undefined ? null : timeOf('to', to, DAY_MS)
  if (from !== undefined && endTime !== null && fromTime >= endTime) {
    throw invalidQuery('`from` must not be after `to`.', 'from')
  }
  const begin = Math.max(oldestTime, fromTime)
  const end = after ?? (endTime === null ? END : firstIdAt(endTime))
  const lastTime = after === null ? (endTime ?? now + DAY_MS) : deliveryTime(after)
  const lastDay = Math.floor(Math.min(lastTime, now + DAY_MS) / DAY_MS)
  return { oldest: firstIdAt(begin), end, firstDay: Math.floor(begin / DAY_MS), lastDay }
}

/**
 * Returns a parameter as milliseconds. With `dayMs` it is an exclusive end: that of the whole day, or the
 * millisecond after an instant.
 */
function timeOf(name: string, text: string, dayMs: number): number {
  if (parseDay(text) !== null) return Date.parse(text) + dayMs
  const instant = parseAnyInstant(text)
  if (instant !== null) return Date.parse(instant) + Math.sign(dayMs)
  throw invalidValue(
    name,
    text,
    `${VALID_DATE}, or an RFC 3339 date-time such as \`2026-10-01T08:30:00Z\``,
  )
}

/** A page of deliveries. For a record id, `stored` has the stored records with this id. */
type FoundDeliveries = FoundPage<ReturnType<typeof presentDelivery>> & {
  more: { stored?: ReturnType<typeof presentStored>[] }
}

/**
 * Finds the deliveries of an account that a query asks for, as the API shows them. With a record id, each
 * has its records with that id.
 *
 * @throws ApiError `invalid_query`
 */
export async function findDeliveries(
  reader: Reader,
  resources: readonly Resource[],
  query: DeliveryQuery,
  page: Page,
): Promise<FoundDeliveries> {
  const { grant, session } = reader
  const { account } = grant
  const filter = deliveryFilter(query, resources)
  const after = page.after ? String(page.after[0]) : null
  const span = deliverySpan(query, after, Date.now())
  if (Object.keys(filter).length === 0) {
    const end = query.to === undefined ? undefined : span.end
    const listed = await listDeliveries(session, account, span.oldest, page, end)
    return { ...listed, data: listed.data.map(presentDelivery), more: {} }
  }
  const { record_id } = query
  if (record_id === undefined) {
    const found = await searchDeliveries(session, account, filter, span, page)
    return { ...found, data: found.data.map(presentDelivery), more: {} }
  }
  // Trading activity has no id of its own.
  const named = resources.filter(({ recordTable: { key } }) => key.length === 1)
  const stored = await findStoredRecords(session, named, account, record_id)
  const storedBy = stored.map(({ delivery }) => delivery)
  const found = await searchDeliveries(session, account, { ...filter, storedBy }, span, page)
  const data = found.data.map((delivery) => ({
    ...presentDelivery(delivery),
    records: recordsOf(delivery, resources, stored, record_id),
  }))
  return { ...found, data, more: { stored: stored.map(presentStored) } }
}

/** Returns the records with an id in a delivery: those that it refused, and the one that it stored. */
function recordsOf(
  delivery: FoundDelivery,
  resources: readonly Resource[],
  stored: readonly StoredRecord[],
  id: string,
) {
  const resource = resources.find(({ name }) => name === delivery.resource)
  if (!resource) return []
  const { form, hold_refused, found_records, found_keys } = delivery
  const errors = found_records && `{"kinds":[],"records":${found_records}}`
  const logged = { form, hold_refused, errors, unknown_keys: found_keys, reused: 0 }
  const refused = refusedRecords(logged, resource).map(({ errors, ...place }) => ({
    ...place,
    outcome: 'rejected' as const,
    errors,
  }))
  const written = stored
    .filter((one) => one.delivery === delivery.id && one.resource === delivery.resource)
    .map((one) => ({
      index: one.idx,
      key: { [resource.key[0] ?? '']: id },
      outcome: outcomeOfStored(one),
    }))
  return [...refused, ...written]
}

/** Returns what the last delivery of a stored record made of it. */
export const outcomeOfStored = ({
  revision,
  held,
}: Pick<StoredRecord, 'revision' | 'held'>): 'created' | 'updated' | 'held' =>
  held === 1 ? 'held' : revision === 1 ? 'created' : 'updated'

/** Returns a stored record as the list of its deliveries has it. */
export const presentStored = (record: StoredRecord) => ({
  resource: record.resource,
  delivery_id: record.delivery,
  received_at: toIsoTime(deliveryTime(record.delivery)),
  outcome: outcomeOfStored(record),
})

const NO_DELIVERY =
  'This account has no delivery with this id. The log keeps deliveries for 30 days, and at most 16 MiB of rejected requests and dry runs a day (UTC).'

/**
 * Reads one delivery of an account, with its resource.
 *
 * @throws ApiError `not_found`
 */
export async function readDelivery(
  { grant, session }: Reader,
  resources: readonly Resource[],
  id: string,
): Promise<{ delivery: Delivery; resource: Resource }> {
  const delivery = await findDelivery(session, grant.account, oldestId(), id)
  const resource = resources.find(({ name }) => name === delivery?.resource)
  if (!delivery || !resource) throw new ApiError('not_found', { detail: NO_DELIVERY })
  return { delivery, resource }
}

/** Returns a delivery as the API shows it in full. */
export function presentInFull(delivery: Delivery, resource: Resource) {
  const errors = readErrors(delivery, resource)
  const isCut = errors.length === 0 && delivery.errors_total > 0
  return {
    ...presentDelivery(delivery),
    days: (JSON.parse(delivery.days) as number[]).map(dayText).sort(),
    errors,
    error_groups: groupErrors(delivery, resource),
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
  received_at: toIsoTime(delivery.received_at),
  resource: delivery.resource,
  status: statusOf(delivery),
  dry_run: delivery.dry_run === 1,
  summary: summaryOf(delivery),
  errors_total: delivery.errors_total,
})
