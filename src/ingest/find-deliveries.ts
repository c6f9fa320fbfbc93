import { dayText } from '../platform/db/column-types.ts'
import type { FoundPage, Page } from '../platform/db/paginate.ts'
import type { Delivery } from '../platform/db/schema.ts'
import { DAY_MS } from '../platform/durations.ts'
import { ApiError } from '../platform/errors.ts'
import type { Reader } from '../platform/http/operation.ts'
import { invalidQuery, invalidValue, readChoice, VALID_DATE } from '../platform/http/query.ts'
import { parseDay, parseInstant } from '../platform/validation/calendar.ts'
import { ISSUE_CODES } from '../platform/validation/issue.ts'
import type { FormattedIssue } from '../platform/validation/messages.ts'
import {
  type DeliveryFilter,
  type DeliverySummary,
  findDelivery,
  listDeliveries,
} from './db/deliveries.ts'
import { shortenLogged } from './db/list.ts'
import { findStoredRecords, type StoredRecord } from './db/stored-record.ts'
import { readErrors } from './delivery-errors.ts'
import { DELIVERY_LOG_MS, deliveryTime, firstIdAt } from './delivery-id.ts'
import type { Resource } from './resource.ts'
import { statusOf, summaryOf } from './response.ts'

/** The parameters that narrow a list of deliveries. */
interface DeliveryQuery extends DeliveryFilter {
  readonly from?: string
  readonly to?: string
}

/** Sorts after the ids of all deliveries. */
const END = 'dlv_~'

/**
 * Returns the ids between which a query looks at `now` (milliseconds). `from` and `to` are days (UTC) or date-times, both
 * inclusive; `after` is the cursor at which the page begins.
 *
 * @throws ApiError `invalid_query`
 */
function deliverySpan({ from, to }: DeliveryQuery, after: string | null, now: number) {
  const oldestTime = now - DELIVERY_LOG_MS
  const fromTime = from === undefined ? oldestTime : timeOf('from', from, 0)
  const endTime = to === undefined ? null : timeOf('to', to, DAY_MS)
  if (from !== undefined && endTime !== null && fromTime >= endTime) {
    throw invalidQuery('`from` must not be after `to`.', 'from')
  }
  return {
    oldest: firstIdAt(Math.max(oldestTime, fromTime)),
    end: after ?? (endTime === null ? END : firstIdAt(endTime)),
  }
}

/**
 * Returns a parameter as milliseconds. With `dayMs` it is an exclusive end: that of the whole day, or the
 * millisecond after an instant.
 */
function timeOf(name: string, text: string, dayMs: number): number {
  if (parseDay(text) !== null) return Date.parse(text) + dayMs
  const instant = parseInstant(text)
  if (instant !== null) return Date.parse(instant) + Math.sign(dayMs)
  throw invalidValue(
    name,
    text,
    `${VALID_DATE}, or an RFC 3339 date-time such as \`2026-10-01T08:30:00Z\``,
  )
}

/** A page of deliveries. For a record id, `stored` has the stored records with this id. */
type FoundDeliveries = FoundPage<ReturnType<typeof presentFound>> & {
  more: { stored?: ReturnType<typeof presentStored>[] }
}

/**
 * Finds the deliveries of an account that a query asks for, as the API shows them. With a record id, these are the ones
 * that refused a record with that id, each with the errors of that record.
 *
 * @throws ApiError `invalid_query`
 */
export async function findDeliveries(
  { grant: { account }, session }: Reader,
  resources: readonly Resource[],
  query: DeliveryQuery,
  page: Page,
): Promise<FoundDeliveries> {
  const { record_id, status } = query
  const names = resources.map(({ name }) => name)
  const filter = {
    resource: readChoice('resource', query.resource, names),
    status,
    code: readChoice('code', query.code, ISSUE_CODES),
    record_id: record_id && shortenLogged(record_id),
  }
  const span = deliverySpan(query, page.after && String(page.after[0]), Date.now())
  const found = await listDeliveries(session, account, filter, span, page)
  const listed = { ...found, data: found.data.map(presentFound) }
  if (record_id === undefined) return { ...listed, more: {} }
  // Trading activity has no id of its own.
  const named = resources.filter(({ recordTable: { key } }) => key.length === 1)
  const stored = await findStoredRecords(session, named, account, record_id)
  return { ...listed, more: { stored: stored.map(presentStored) } }
}

/** Returns a delivery as lists show it, with the refused records that were searched for. */
function presentFound({ found_errors, ...delivery }: DeliverySummary) {
  if (found_errors === undefined) return presentDelivery(delivery)
  const errors: FormattedIssue[] = JSON.parse(found_errors)
  const byIndex = Map.groupBy(errors, ({ index }) => index)
  const records = [...byIndex].map(([index, own]) => {
    const { key = {} } = own[0] ?? {}
    return { ...(index !== undefined && { index }), key, errors: own }
  })
  return { ...presentDelivery(delivery), records }
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
  const { errors, groups } = readErrors(delivery)
  const isCut = errors.length === 0 && delivery.errors_total > 0
  return {
    ...presentDelivery(delivery),
    days: (JSON.parse(delivery.days) as number[]).map(dayText).sort(),
    errors,
    error_groups: groups,
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
