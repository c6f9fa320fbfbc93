import type { ErrorCode } from '../../../src/errors.ts'
import { MAX_RECORDS } from '../../../src/ingest/envelope.ts'
import { ENTITIES, type Entity } from '../entities.ts'
import type { JsonSchema } from '../types.ts'
import { deskOf } from './desk.ts'
import { LISTED, listOf, type Operation, PAGING, pascal, READ, ref, type Who } from './operation.ts'

// What partners and brands may do with their records: the same for each entity.

/** Where an API lives, who calls it, and how its customers are called there. */
interface Api {
  vertical: string
  at: string
  who: Who
  customer: 'customer_id' | 'customerid'
}

/** The APIs of those who send records. */
export const APIS: readonly Api[] = [
  { vertical: 'prop-trading', at: '/api/v1/prop-trading', who: 'partner', customer: 'customer_id' },
  { vertical: 'forex', at: '/api/v1/forex', who: 'partner', customer: 'customer_id' },
  { vertical: 'igaming', at: '/tracking/events', who: 'brand', customer: 'customerid' },
]

const spoken = (title: string) => title.toLowerCase()

/** A request body in each of its forms. */
export const bodyOf = ({ component, vertical }: Entity): JsonSchema => {
  const records = { type: 'array', items: ref(component), minItems: 1, maxItems: MAX_RECORDS }
  const asData = {
    title: 'as data',
    type: 'object',
    properties: { data: records, meta: { description: 'Ignored.' } },
    required: ['data'],
    additionalProperties: false,
  }
  return {
    description:
      vertical === 'igaming'
        ? `1 to ${MAX_RECORDS} records: an array of them, or a single one as it is.`
        : `1 to ${MAX_RECORDS} records: an array of them, an object with that array as \`data\` (its \`meta\` is ignored, so that what a list answered can be posted back), or a single one as it is.`,
    anyOf: [
      ref(component),
      { title: 'an array', ...records },
      ...(vertical === 'igaming' ? [] : [asData]),
    ],
  }
}

const SENT = ['RateLimit', 'RateLimit-Policy', 'x-d1-bookmark', 'Preference-Applied'] as const

const WRONG: readonly ErrorCode[] = [
  'malformed_json',
  'invalid_query',
  'payload_too_large',
  'unsupported_media_type',
  'validation_failed',
]

function send(api: Api, entity: Entity): Operation {
  const { at, who, vertical } = api
  const isBrand = who === 'brand'
  const result = ref('Result')
  return {
    method: 'post',
    path: `${at}/${entity.resource}`,
    id: `send${pascal(vertical)}${pascal(entity.resource)}`,
    tag: vertical,
    summary: `Send ${entity.resource}`,
    description: isBrand
      ? `Creates or ${entity.resource === 'customers' ? 'augments' : 'replaces'} 1 to 1000 records; they apply in the order of the array. All or nothing, unless \`Prefer: handling=lenient\`. With an \`Idempotency-Key\` the request can be repeated whatever is in it.`
      : 'Creates or replaces 1 to 1000 records, each by its key. All or nothing, unless `Prefer: handling=lenient`. To repeat it is safe as long as nothing newer was sent under its keys.',
    who,
    parameters: ['dry_run', 'Prefer', 'Content-Encoding', ...(isBrand ? ['Idempotency-Key'] : [])],
    body: { schema: ref(`${entity.component}Body`) },
    answers: {
      200: { description: 'All records were taken.', schema: result, headers: SENT },
      201: { description: 'A single object created its record.', schema: result, headers: SENT },
      207: {
        description: 'With `handling=lenient`: the good records were taken, the others are named.',
        schema: result,
        headers: SENT,
      },
    },
    fails: [...WRONG, ...(isBrand ? (['invalid_request', 'idempotency_key_reused'] as const) : [])],
  }
}

function list({ at, who, vertical, customer }: Api, { resource, component }: Entity): Operation {
  const days = resource === 'customers' ? [] : ['from', 'to']
  return {
    method: 'get',
    path: `${at}/${resource}`,
    id: `list${pascal(vertical)}${pascal(resource)}`,
    tag: vertical,
    summary: `List ${resource}`,
    description: `What is stored, in the order of its key. Walk by cursor: nothing that was stored when the walk began is lost or met twice.`,
    who,
    parameters: [...PAGING, customer, ...days, 'x-d1-bookmark'],
    answers: {
      200: { description: 'One page of records.', schema: listOf(ref(component)), headers: LISTED },
    },
    fails: ['invalid_query'],
  }
}

/** The parameter that names one record. */
const idOf = (who: Who, resource: string) =>
  who === 'brand' ? 'player' : resource === 'transactions' ? 'transaction' : 'id'

function read({ at, who, vertical }: Api, { resource, component, title }: Entity): Operation {
  return {
    method: 'get',
    path: `${at}/${resource}/{id}`,
    id: `get${pascal(vertical)}${pascal(resource)}`,
    tag: vertical,
    summary: `Get one ${spoken(title)}`,
    description: 'The record as it is stored. One that is held is not there yet.',
    who,
    parameters: [idOf(who, resource), 'x-d1-bookmark'],
    answers: { 200: { description: 'The record.', schema: ref(component), headers: READ } },
    fails: ['invalid_query', 'not_found'],
  }
}

const self = ({ at, who, vertical }: Api): Operation => ({
  method: 'get',
  path: `${at}/account`,
  id: `get${pascal(vertical)}Account`,
  tag: vertical,
  summary: 'Who am I',
  description:
    'Whose credentials these are: name, vertical, mode, time zone, policies, scope, and the affiliates that are configured.',
  who,
  parameters: ['x-d1-bookmark'],
  answers: {
    200: {
      description: 'The account.',
      schema: ref(who === 'brand' ? 'BrandSelf' : 'PartnerSelf'),
      headers: READ,
    },
  },
  fails: ['invalid_query'],
})

/** Trading activity and brand activities have no address of their own. */
const isSingle = ({ resource }: Entity) => /^(customers|transactions)$/.test(resource)

/** All that partners and brands may ask. */
export const senders = (): Operation[] =>
  APIS.flatMap((api) => {
    const entities = ENTITIES.filter(({ vertical }) => vertical === api.vertical)
    const total = ref(api.who === 'brand' ? 'BrandTotal' : 'PartnerTotal')
    return [
      ...entities.flatMap((entity) => [
        send(api, entity),
        list(api, entity),
        ...(isSingle(entity) ? [read(api, entity)] : []),
      ]),
      self(api),
      ...deskOf(api.at, api.who, api.vertical, entities, total),
    ]
  })
