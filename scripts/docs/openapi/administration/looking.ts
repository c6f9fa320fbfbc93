import { COUNTED_ERRORS } from '../../../../src/db/records/count-delivery-errors.ts'
import { ENTITIES } from '../../entities.ts'
import { documented, object } from '../../envelopes.ts'
import type { JsonSchema } from '../../types.ts'
import {
  listOf,
  type Operation,
  PAGE_HEADERS,
  PAGING,
  pageOf,
  READ_HEADERS,
  ref,
} from '../operation.ts'
import { attention, DAY, TIME } from '../shapes.ts'
import { ACCOUNT_PATH, COUNT, operation } from './operation.ts'

const ARRIVALS = object({
  day: documented('The day (UTC) on which the requests arrived.', DAY),
  resource: documented('The resource, as it is named in the address.'),
  deliveries: documented('The number of requests.', COUNT),
  received: documented('The number of records in them.', COUNT),
  refused: documented(
    'How many of these records were not stored because they, or others of their request, were rejected.',
    COUNT,
  ),
})

const ERROR_COUNT = object({
  code: documented('The broken rule.'),
  deliveries: documented('The number of deliveries that have it.', COUNT),
  last_delivery_id: ref('DeliveryId'),
  last_received_at: documented('When the last of them arrived.', TIME),
})

const FOUND_RECORD = object({
  resource: documented('The resource of the record.'),
  id: documented(
    'Its id as `unearned/facts` lists it. Of trading activity the day, customer, instrument and currency with `|` between them.',
  ),
  customer_id: documented('Its customer.'),
  day: documented('Its day.', DAY),
  outcome: documented('What the last delivery made of it: `created`, `updated` or `held`.'),
  delivery_id: ref('DeliveryId'),
  received_at: documented('When that delivery arrived.', TIME),
  revision: documented('How many times the record was written.', COUNT),
  record: documented('The record as its sender reads it.', {
    anyOf: ENTITIES.map(({ component }) => ref(component)),
  }),
})

const ATTENTION = object({ data: attention })

const returned = (description: string, schema: JsonSchema) => ({
  200: { description, schema, headers: READ_HEADERS },
})

/** Lists the operations by which the integrations team looks into an account. */
export const looking = (): Operation[] => [
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/attention`,
    id: 'listAttention',
    summary: 'List what needs attention',
    description:
      'Returns what needs the attention of an account, the most urgent first. The account reads the same in `attention` of `GET account`, but for what only the team decides, such as `unapproved_drafts`: drafts of periods that have ended, without periods whose drafts all pay nothing.',
    parameters: ['x-d1-bookmark'],
    answers: returned('What needs attention.', ATTENTION),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/arrivals`,
    id: 'listArrivals',
    summary: 'Count records by the day of arrival',
    description:
      'Returns how many records arrived and how many of them were rejected, for each resource and day (UTC) of the last 30 days. Of a request with status 422 all records count as rejected. Days without deliveries are left out, and so are dry runs.',
    parameters: ['x-d1-bookmark'],
    answers: returned('The counts.', listOf(ARRIVALS)),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/delivery-errors`,
    id: 'countDeliveryErrors',
    summary: 'Count deliveries by error',
    description: `Returns for each error how many deliveries of these days (UTC) have it, the most frequent first. The log keeps 30 days. At most ${COUNTED_ERRORS.toLocaleString('en')} errors of deliveries are counted; beyond that the response is 400.`,
    parameters: ['from_day', 'to_day', 'x-d1-bookmark'],
    answers: returned('The counts.', listOf(ERROR_COUNT)),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/records/{resource}`,
    id: 'listRecords',
    summary: 'List records',
    description:
      'Lists the stored records of a resource as their sender reads them: `customers`, `transactions` and `trading-activity` of a firm, `customers` and `activities` of a brand. Held records are not listed.',
    parameters: ['customer_id', ...PAGING, 'x-d1-bookmark'],
    answers: {
      200: {
        description: 'One page of records.',
        schema: pageOf({ anyOf: ENTITIES.map(({ component }) => ref(component)) }),
        headers: PAGE_HEADERS,
      },
    },
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/records`,
    id: 'findRecords',
    summary: 'Find records by an id, or by its beginning',
    description:
      'Returns the records that are stored under an id, of all resources of the account, held records included: the id as it was sent, or as `unearned/facts` lists it.',
    parameters: ['record_id_query', 'record_match', 'x-d1-bookmark'],
    answers: returned('The records.', listOf(FOUND_RECORD)),
  }),
]
