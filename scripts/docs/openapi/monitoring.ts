import type { Entity } from '../entities.ts'
import { documented } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import {
  type CallerKind,
  listOf,
  type Operation,
  PAGE_HEADERS,
  PAGING,
  pageOf,
  pascalCase,
  READ_HEADERS,
  ref,
} from './operation.ts'
import { BOOK_ZONE } from './shapes.ts'

// The operations that show what was delivered: to the account itself, and to the integrations team.

const anyOf = (schemas: readonly JsonSchema[]): JsonSchema => {
  const [first, ...others] = schemas
  return first && others.length === 0 ? first : { anyOf: schemas }
}

const heldRecord = (entities: readonly Entity[]): JsonSchema => ({
  type: 'object',
  properties: {
    resource: { type: 'string', description: 'The resource, as it is named in the address.' },
    received_at: { type: 'string', format: 'date-time' },
    delivery_id: ref('DeliveryId'),
    record: anyOf(entities.map(({ component }) => ref(component))),
  },
  required: ['resource', 'received_at', 'delivery_id', 'record'],
})

/** Where the operations are, and for whom. */
interface Scope {
  at: string
  caller: CallerKind
  tag: string
  entities: readonly Entity[]
  /** The schema of a control total. */
  total: JsonSchema
}

type Draft = Pick<Operation, 'path' | 'id' | 'summary' | 'description'> & {
  parameters?: readonly string[]
  answer: { description: string; schema: JsonSchema; headers: readonly string[] }
  isSingle?: boolean
  /** Errors beside those of every read. */
  errors?: Operation['errors']
}

function operationOf({ at, caller, tag }: Scope, draft: Draft): Operation {
  const isTeam = caller === 'team'
  const [, verb = '', noun = ''] = /^([a-z]+)(.*)$/.exec(draft.id) ?? []
  const canMiss = isTeam || draft.isSingle
  return {
    method: 'get',
    path: `${at}/${draft.path}`,
    id: `${verb}${pascalCase(isTeam ? 'account' : tag)}${noun}`,
    tag,
    summary: draft.summary,
    description: draft.description,
    caller,
    parameters: [...(isTeam ? ['account'] : []), ...(draft.parameters ?? []), 'x-d1-bookmark'],
    answers: { 200: draft.answer },
    errors: [
      'invalid_query',
      ...(canMiss ? (['not_found'] as const) : []),
      ...(draft.errors ?? []).filter((code) => isTeam || code !== 'rate_limited'),
    ],
  }
}

/** The parameters that narrow the list of deliveries. */
const FILTERS = [
  'delivery_resource',
  'delivery_status',
  'error_code',
  'record_id',
  'received_from',
  'received_to',
] as const

/** Adds what a list of deliveries has with `record_id`. */
const withStored = ({ properties, ...list }: JsonSchema): JsonSchema => ({
  ...list,
  properties: {
    ...(properties as object),
    stored: documented(
      'With `record_id`: the records that are stored under this id, and the delivery that last changed each.',
      { type: 'array', items: ref('StoredRecord') },
    ),
  },
})

const deliveries: readonly Draft[] = [
  {
    path: 'deliveries',
    id: 'listDeliveries',
    summary: 'List deliveries',
    description:
      'Lists the requests of the last 30 days, newest first. A request is listed if it passed authentication, scope and rate limit and its body was JSON. Bodies are not kept. A page looks at no more than 10,000 deliveries: with a filter, it can have fewer than `per_page`, even none, while `next_cursor` leads on.',
    parameters: [...FILTERS, ...PAGING],
    answer: {
      description: 'One page of deliveries.',
      schema: withStored(pageOf(ref('FoundDelivery'))),
      headers: PAGE_HEADERS,
    },
  },
  {
    path: 'deliveries/{delivery_id}',
    id: 'getDelivery',
    summary: 'Get a delivery',
    description: 'Returns a delivery with its first 100 errors, and all of its errors in groups.',
    parameters: ['delivery_id'],
    answer: { description: 'The delivery.', schema: ref('DeliveryInFull'), headers: READ_HEADERS },
    isSingle: true,
  },
  {
    path: 'deliveries/{delivery_id}/refused',
    id: 'listDeliveryRefused',
    summary: 'List the refused records of a delivery',
    description:
      'Lists all records of a delivery that were refused, with their errors, in their order. The log keeps at most 256 KiB of errors of a delivery, the first one of each record before others.',
    parameters: ['delivery_id', ...PAGING],
    answer: {
      description: 'One page of refused records.',
      schema: pageOf(ref('RefusedRecord')),
      headers: PAGE_HEADERS,
    },
    isSingle: true,
  },
]

const reconciliation = (total: JsonSchema, entities: readonly Entity[]): Draft[] => [
  {
    path: 'totals',
    id: 'getTotals',
    summary: 'Get control totals',
    description:
      'Returns counts and exact sums for each day, to reconcile with your own books. Currencies are not converted. Held records are not counted. The request counts as 10 requests of your rate limit. Days that have changed are summed anew, by one request of an account at a time: another one gets 429 `rate_limited`. If many records must be summed, the response is 503 `unavailable`; the next request goes on from there.',
    parameters: ['from_day', 'to_day'],
    errors: ['rate_limited'],
    answer: {
      description: 'All groups of these days, in order.',
      schema: listOf(total, { book_zone: BOOK_ZONE }),
      headers: READ_HEADERS,
    },
  },
  {
    path: 'held',
    id: 'listHeld',
    summary: 'List held records',
    description:
      'Lists records that wait for their customer. They are not counted until you send the customer, which releases them. The request counts as 5 requests of your rate limit.',
    parameters: PAGING,
    answer: {
      description: 'One page of held records.',
      schema: pageOf(heldRecord(entities.filter(({ resource }) => resource !== 'customers'))),
      headers: PAGE_HEADERS,
    },
  },
  {
    path: 'feed',
    id: 'getFeed',
    summary: 'Get data freshness',
    description:
      'Returns, for each resource, the last delivery, the lag, the share of rejected records in the last 24 hours, whether activity dated yesterday arrived by 06:00 UTC, and the days without records or with far fewer than usual.',
    answer: {
      description: 'One entry for each resource.',
      schema: listOf(ref('Feed')),
      headers: READ_HEADERS,
    },
  },
]

/** Lists the operations that show what was delivered. */
export const monitoringOf = (scope: Scope): Operation[] =>
  [...deliveries, ...reconciliation(scope.total, scope.entities)].map((draft) =>
    operationOf(scope, draft),
  )
