import * as v from 'valibot'
import {
  COUNTED_ERRORS,
  countDeliveryErrors as countErrors,
} from '../db/records/count-delivery-errors.ts'
import { DELIVERY_STATUSES } from '../db/records/delivery-search-sql.ts'
import { DAY_MS } from '../durations.ts'
import { readList, readOperation } from '../http/operation.ts'
import { invalidQuery, readDayRange } from '../http/query.ts'
import { pageOfRefused, refusedRecords } from '../ingest/delivery-errors.ts'
import { DELIVERY_LOG_MS, deliveryTime, firstIdAt } from '../ingest/delivery-id.ts'
import {
  findDeliveries,
  presentInFull,
  readDelivery,
  toIsoTime,
} from '../ingest/find-deliveries.ts'
import { brokenRule, deliveryId, summary } from '../ingest/result-fields.ts'
import { count, day, daysNeeded, time } from '../validation/answer-fields.ts'
import { described, listOf, named } from '../validation/described.ts'
import { member, said } from '../validation/fields.ts'
import { resourcesOf } from '../verticals.ts'
import { resource } from './delivery-fields.ts'

const delivery = described(() => ({
  delivery_id: deliveryId,
  received_at: member(time, 'When the request arrived.'),
  resource,
  status: member(v.picklist([200, 201, 207, 422]), 'The status of the response.'),
  dry_run: member(v.boolean(), 'Whether the request was only validated.'),
  summary,
  errors_total: member(count, 'The number of errors.'),
}))

const key = described(() =>
  member(
    v.record(v.string(), v.string()),
    'The members that identify the record, at most 40 characters of each.',
  ),
)

const foundDelivery = described(() =>
  named(
    'FoundDelivery',
    v.object({
      ...delivery,
      records: v.exactOptional(
        member(
          v.array(
            v.object({
              index: v.exactOptional(
                member(count, 'The position of the record in the request, from 0.'),
              ),
              key: v.exactOptional(key),
              outcome: member(
                v.picklist(['created', 'updated', 'held', 'rejected']),
                '`rejected`, or what the delivery made of the record that is stored.',
              ),
              errors: v.exactOptional(v.array(brokenRule)),
            }),
          ),
          'With `record_id`: the records of the delivery with this id that were rejected, or that are stored as this delivery sent them.',
        ),
      ),
    }),
  ),
)

const storedRecord = described(() =>
  named(
    'StoredRecord',
    v.object({
      resource,
      delivery_id: deliveryId,
      received_at: member(time, 'When the delivery arrived that last changed the record.'),
      outcome: member(
        v.picklist(['created', 'updated', 'held']),
        'What that delivery did, or `held` while the record waits for its customer.',
      ),
    }),
  ),
)

const receivedBetween = (words: ReturnType<typeof said<string>>) =>
  v.optional(member(v.string(), words))

/** The parameters that narrow a list of deliveries. */
const deliveryFilters = {
  resource: v.optional(
    member(
      v.string(),
      said(
        'Returns only deliveries of this resource, as it is named in the address.',
        'transactions',
      ),
    ),
  ),
  status: v.optional(
    member(
      v.picklist(DELIVERY_STATUSES),
      said(
        'Returns only deliveries with this status: that of the response, or `refused` for 207 and 422, `stored` for 200 and 201.',
        'refused',
      ),
    ),
  ),
  code: v.optional(
    member(
      v.string(),
      said('Returns only deliveries with an error of this code.', 'unknown_customer'),
    ),
  ),
}

export const listDeliveries = readList({
  topic: 'monitoring',
  id: 'listDeliveries',
  path: '/deliveries',
  callers: ['team', 'account'],
  params: {
    ...deliveryFilters,
    record_id: v.optional(
      member(
        v.string(),
        said(
          'Returns the deliveries that carried the record with this id: those that refused it, and the one that last changed it if it is stored. Trading activity, and activities without `eventid`, are found by the id of their customer if they were refused. Of ids longer than 40 characters only the first 40 are compared.',
          'T-5001',
        ),
      ),
    ),
    from: receivedBetween(
      said('Returns only what was received from this day (UTC) or time on.', '2026-10-01'),
    ),
    to: receivedBetween(
      said(
        'Returns only what was received until this day (UTC) or time, inclusive.',
        '2026-10-01T12:00:00Z',
      ),
    ),
  },
  words: described(() => ({
    description:
      'Lists the requests of the last 30 days, newest first. A request is listed if it passed authentication, scope and rate limit and its body was JSON. Bodies are not kept. A page looks at no more than 10,000 deliveries: with a filter, it can have fewer than `per_page`, even none, while `next_cursor` leads on.',
    answer: foundDelivery,
    more: {
      stored: v.exactOptional(
        member(
          v.array(storedRecord),
          'With `record_id`: the records that are stored under this id, and the delivery that last changed each.',
        ),
      ),
    },
    command: {
      name: 'deliveries list',
      rows: 'records',
      columns: [
        ...['delivery_id', 'received_at', 'resource', 'status', 'dry_run'],
        ...['received', 'created', 'updated', 'unchanged', 'stale', 'held', 'rejected'].map(
          (name) => `summary.${name}`,
        ),
        ...['errors_total', 'index', 'outcome', 'errors'],
      ],
    },
  })),
  list: (reader, query, page) =>
    findDeliveries(reader, resourcesOf(reader.grant.vertical), query, page),
})

const ofDelivery = {
  topic: 'monitoring',
  path: '/deliveries/{delivery_id}',
  callers: ['team', 'account'],
  params: {
    delivery_id: member(
      v.string(),
      said('The `delivery_id` of a response.', 'dlv_01M7W0R4W8E3V15G8XPED3Z94X'),
    ),
  },
} as const

export const getDelivery = readOperation({
  ...ofDelivery,
  id: 'getDelivery',
  method: 'GET',
  words: described(() => ({
    description: 'Returns a delivery with its first 100 errors, and all of its errors in groups.',
    answer: named(
      'DeliveryInFull',
      v.object({
        ...delivery,
        days: member(
          v.array(day),
          'The days whose records it changed, in order: of those that it wrote, and from which they moved.',
        ),
        errors: member(
          v.array(brokenRule),
          'The first 100 errors, at most 64 KiB. Messages do not quote values.',
        ),
        error_groups: member(
          v.array(
            v.object({
              code: member(v.string(), 'The broken rule.'),
              pointer: member(
                v.string(),
                'The JSON Pointer, with `*` in place of the position of the record.',
              ),
              count: member(count, 'The number of these errors.'),
              example: member(brokenRule, 'The first of them.'),
            }),
          ),
          'All errors that the log keeps, grouped by code and place: at most 100 groups, the largest first.',
        ),
        errors_not_kept: v.exactOptional(
          member(
            v.literal(true),
            'Present if the log of that day (UTC) had no room for the errors. The response had them.',
          ),
        ),
      }),
    ),
    command: { name: 'deliveries get' },
  })),
  async run(reader, { delivery_id }) {
    const found = await readDelivery(reader, resourcesOf(reader.grant.vertical), delivery_id)
    return presentInFull(found.delivery, found.resource)
  },
})

export const listDeliveryRefused = readList({
  ...ofDelivery,
  id: 'listDeliveryRefused',
  path: '/deliveries/{delivery_id}/refused',
  words: described(() => ({
    description:
      'Lists all records of a delivery that were refused, with their errors, in their order. The log keeps at most 256 KiB of errors of a delivery, the first one of each record before others.',
    answer: named(
      'RefusedRecord',
      v.object({
        index: v.exactOptional(
          member(
            count,
            'The position of the record in the request, from 0. Absent for errors of the whole body.',
          ),
        ),
        key: v.exactOptional(key),
        errors: member(v.array(brokenRule), 'At most 10 errors. Messages do not quote values.'),
      }),
    ),
    command: { name: 'deliveries refused', rows: 'errors' },
  })),
  async list(reader, { delivery_id }, page) {
    const found = await readDelivery(reader, resourcesOf(reader.grant.vertical), delivery_id)
    return pageOfRefused(refusedRecords(found.delivery, found.resource), page)
  },
})

export const countDeliveryErrors = readOperation({
  topic: 'monitoring',
  id: 'countDeliveryErrors',
  method: 'GET',
  path: '/delivery-errors',
  params: daysNeeded,
  words: described(() => ({
    description: `Returns for each error how many deliveries of these days (UTC) have it, the most frequent first. The log keeps 30 days. At most ${COUNTED_ERRORS.toLocaleString('en')} errors of deliveries are counted; beyond that the response is 400.`,
    answer: listOf(
      v.object({
        code: member(v.string(), 'The broken rule.'),
        deliveries: member(count, 'The number of deliveries that have it.'),
        last_delivery_id: deliveryId,
        last_received_at: member(time, 'When the last of them arrived.'),
      }),
    ),
    command: { name: 'deliveries errors' },
  })),
  async run({ grant, session }, sent) {
    const { from, to } = readDayRange(sent)
    const oldestTime = Date.now() - DELIVERY_LOG_MS
    const days = daysFrom(Math.max(Date.parse(from), oldestTime), Date.parse(to))
    const rows = await countErrors(session, grant.account, days, firstIdAt(oldestTime))
    if (!rows)
      throw invalidQuery(
        'From `from` to `to`, there are too many errors. Ask for fewer days.',
        'from',
      )
    return {
      data: rows.map(({ delivery: last_delivery_id, ...counted }) => ({
        ...counted,
        last_delivery_id,
        last_received_at: toIsoTime(deliveryTime(last_delivery_id)),
      })),
    }
  },
})

/** Returns the numbers of days since 1970 from one time to another, both in milliseconds. */
function daysFrom(from: number, to: number): number[] {
  const first = Math.floor(from / DAY_MS)
  const length = Math.max(0, Math.floor(to / DAY_MS) - first + 1)
  return Array.from({ length }, (_, i) => first + i)
}

/** The operations on deliveries: what arrived, and what of it was refused. */
export const DELIVERY_OPERATIONS = [
  listDeliveries,
  getDelivery,
  listDeliveryRefused,
  countDeliveryErrors,
]
