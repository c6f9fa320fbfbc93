import {
  DELIVERY_STATUSES,
  type DeliveryFilter,
  type DeliverySpan,
} from '../db/records/delivery-search-sql.ts'
import { shortenLogged } from '../db/records/wire-form.ts'
import { shortId } from '../db/short-id.ts'
import { DAY_MS } from '../durations.ts'
import { invalidQuery, invalidValue, readChoice, VALID_DATE } from '../http/query.ts'
import { DELIVERY_LOG_MS, deliveryTime, firstIdAt } from '../ingest/delivery-id.ts'
import type { Resource } from '../ingest/resource.ts'
import { parseAnyInstant, parseDay } from '../validation/calendar.ts'
import { ISSUE_CODES } from '../validation/issue.ts'

/** The parameters that narrow a list of deliveries. */
export const DELIVERY_PARAMETERS = [
  'resource',
  'status',
  'code',
  'record_id',
  'from',
  'to',
] as const

/** The parameters as sent. */
export type DeliveryQuery = Partial<Record<(typeof DELIVERY_PARAMETERS)[number], string>>

/**
 * Returns the filter of a query. It has the forms of the record id; `stored` is filled in later.
 *
 * @throws ApiError `invalid_query`
 */
export function deliveryFilter(
  { resource, status, code, record_id }: DeliveryQuery,
  resources: readonly Resource[],
): DeliveryFilter {
  const filter = {
    resource: readChoice(
      'resource',
      resource,
      resources.map(({ name }) => name),
    ),
    status: readChoice('status', status, DELIVERY_STATUSES),
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
export function deliverySpan(
  { from, to }: DeliveryQuery,
  after: string | null,
  now: number,
): DeliverySpan {
  const oldestTime = now - DELIVERY_LOG_MS
  const fromTime = from === undefined ? oldestTime : timeOf('from', from, 0)
  const endTime = to === undefined ? null : timeOf('to', to, DAY_MS)
  if (from !== undefined && endTime !== null && fromTime >= endTime) {
    throw invalidQuery('`from` must not be after `to`.')
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
