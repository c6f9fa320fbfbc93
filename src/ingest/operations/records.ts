import * as v from 'valibot'
import { ApiError } from '../../platform/errors.ts'
import { list, operation } from '../../platform/http/operation.ts'
import { count, day, time } from '../../platform/validation/answer-fields.ts'
import { described, listOf } from '../../platform/validation/described.ts'
import { member, optional, said } from '../../platform/validation/fields.ts'
import { quote, quoteAll } from '../../platform/validation/quote.ts'
import { listRecords as readRecords } from '../db/list.ts'
import { readStoredRecords } from '../db/stored-record.ts'
import { deliveryTime } from '../delivery-id.ts'
import { outcomeOfStored, toIsoTime } from '../find-deliveries.ts'
import type { Resource } from '../resource/resource.ts'
import { deliveryId } from '../result-fields.ts'
import { resourcesOf } from '../verticals.ts'
import { record, resourceName } from './delivery-fields.ts'

export const listRecords = list({
  topic: 'monitoring',
  id: 'listRecords',
  shows: 'affiliate',
  path: '/records/{resource}',
  params: {
    resource: resourceName,
    customer_id: optional(v.string(), said('Returns only records of this customer.', 'C-1001')),
  },
  words: described(() => ({
    description:
      'Lists the stored records of a resource as their sender reads them: `customers`, `transactions` and `trading-activity` of a firm, `customers` and `activities` of a brand. Held records are not listed.',
    answer: record,
    command: { name: 'customers records' },
  })),
  list({ grant, session }, { resource: name, ...filter }, page) {
    const resources = resourcesOf(grant.vertical)
    const resource = resources.find((one) => one.name === name)
    if (!resource) throw noResource(name, resources)
    return readRecords(session, resource, grant.account, filter, page)
  },
})

const noResource = (name: string, resources: readonly Resource[]) =>
  new ApiError('not_found', {
    detail: `The account has no resource ${quote(name)}. It has ${quoteAll(resources.map((one) => one.name))}.`,
  })

export const findRecords = operation({
  topic: 'monitoring',
  id: 'findRecords',
  shows: 'affiliate',
  method: 'GET',
  path: '/records',
  params: {
    id: member(v.string(), said('The id of the record.', 'T-1001')),
  },
  words: described(() => ({
    description:
      'Returns the records that are stored under an id, of all resources of the account, held records included: the id as it was sent, or as `unearned/facts` lists it.',
    answer: listOf(
      v.object({
        resource: resourceName,
        id: member(
          v.string(),
          'Its id as `unearned/facts` lists it. Of trading activity the day, customer, instrument and currency with `|` between them.',
        ),
        customer_id: member(v.string(), 'Its customer.'),
        day: member(day, 'Its day.'),
        outcome: member(
          v.picklist(['created', 'updated', 'held']),
          'What the last delivery made of it.',
        ),
        delivery_id: deliveryId,
        received_at: member(time, 'When that delivery arrived.'),
        revision: member(count, 'How many times the record was written.'),
        record,
      }),
    ),
    command: {
      name: 'records find',
      argument: 'id',
      columns: ['resource', 'id', 'customer_id', 'day', 'outcome', 'received_at'],
    },
  })),
  async run({ grant, session }, { id }) {
    const resources = resourcesOf(grant.vertical)
    const found = await readStoredRecords(session, resources, grant.account, id)
    return {
      data: found.map(({ delivery, idx: _, held, ...one }) => ({
        ...one,
        outcome: outcomeOfStored({ revision: one.revision, held }),
        delivery_id: delivery,
        received_at: toIsoTime(deliveryTime(delivery)),
      })),
    }
  },
})
