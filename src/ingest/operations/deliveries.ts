import * as v from 'valibot'
import { list, operation } from '../../platform/http/operation.ts'
import { count, daysWanted, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { exactOptional, member, optional, said } from '../../platform/validation/fields.ts'
import { DELIVERY_OUTCOMES } from '../db/deliveries.ts'
import { OUTCOMES } from '../db/item.ts'
import { findDeliveries, presentInFull, readDelivery } from '../find-deliveries.ts'
import { brokenRule, deliveryId, summary } from '../result-fields.ts'
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

const foundDelivery = component('FoundDelivery', () => ({
  ...delivery,
  records: exactOptional(
    v.array(
      v.object({
        index: exactOptional(count, 'The position of the record in the request, from 0.'),
        key,
        outcome: member(
          v.picklist(['created', 'updated', 'held', 'rejected']),
          'What became of the record.',
        ),
        errors: member(v.array(brokenRule), 'The errors of a rejected record.'),
      }),
    ),
    'With `record_id`: the records of the delivery with this id.',
  ),
}))

/** The parameters that narrow a list of deliveries. */
const deliveryFilters = {
  resource: optional(
    v.string(),
    said(
      'Returns only deliveries of this resource, as it is named in the address.',
      'transactions',
    ),
  ),
  outcome: optional(
    v.picklist(DELIVERY_OUTCOMES),
    said(
      'Returns only deliveries with this outcome: `refused` for the statuses 207 and 422, `stored` for 200 and 201.',
      'refused',
    ),
  ),
}

export const listDeliveries = list({
  topic: 'monitoring',
  id: 'listDeliveries',
  shows: 'account',
  path: '/deliveries',
  callers: ['team', 'account'],
  params: {
    ...deliveryFilters,
    record_id: optional(
      v.string(),
      said(
        'Returns the deliveries that refused the record with this id, if it is among their first 100 errors, and the one that stored it. Refused trading activity and daily activities are found by the id of their customer; other activities without `eventid` are not found. Of ids longer than 40 characters only the first 40 are compared in refused records.',
        'T-5001',
      ),
    ),
    ...daysWanted,
  },
  words: described(() => ({
    description:
      'Lists the requests of the last 30 days, newest first. `from` and `to` are days of receipt in UTC. A request is listed if it passed authentication, scope and rate limit and its body was JSON. Bodies are not kept. A filter looks at the latest 10,000 deliveries until `to`: of those with errors, if it asks for them.',
    answer: foundDelivery,
    command: {
      name: 'deliveries list',
      rows: 'records',
      columns: [
        'delivery_id',
        'received_at',
        'resource',
        'status',
        'dry_run',
        ...['received', ...OUTCOMES, 'not_stored'].map((name) => `summary.${name}`),
        'errors_total',
        'index',
        'outcome',
        'errors',
      ],
    },
  })),
  list: (reader, query, page) =>
    findDeliveries(reader, resourcesOf(reader.grant.vertical), query, page),
})

export const getDelivery = operation({
  topic: 'monitoring',
  id: 'getDelivery',
  shows: 'account',
  method: 'GET',
  path: '/deliveries/{delivery_id}',
  callers: ['team', 'account'],
  params: {
    delivery_id: member(
      v.string(),
      said('The `delivery_id` of a response.', 'dlv_01M7W0R4W8E3V15G8XPED3Z94X'),
    ),
  },
  words: described(() => ({
    description: 'Returns a delivery with its first 100 errors.',
    answer: component('DeliveryInFull', () => ({
      ...delivery,
      errors: member(
        v.array(brokenRule),
        'The first 100 errors, at most 64 KiB. Messages do not quote values.',
      ),
      errors_not_kept: exactOptional(
        v.literal(true),
        'Present if the log of that day (UTC) had no room for the errors. The response had them.',
      ),
    })),
    command: { name: 'deliveries get' },
  })),
  async run(reader, { delivery_id }) {
    return presentInFull(await readDelivery(reader, delivery_id))
  },
})

/** The operations on deliveries: what arrived, and what of it was refused. */
export const DELIVERY_OPERATIONS = [listDeliveries, getDelivery]
