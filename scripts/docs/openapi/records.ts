import type { ErrorCode } from '../../../src/errors.ts'
import { MAX_RECORDS } from '../../../src/ingest/envelope.ts'
import { ENTITIES, type Entity } from '../entities.ts'
import type { JsonSchema } from '../types.ts'
import { derivedFor } from './derived.ts'
import {
  type CallerKind,
  type Operation,
  PAGE_HEADERS,
  PAGING,
  pageOf,
  pascalCase,
  READ_HEADERS,
  ref,
} from './operation.ts'

// The operations of partners and brands on their records. They are the same for each entity.

/** The API of a vertical. */
interface Api {
  vertical: string
  at: string
  caller: CallerKind
  /** The query parameter that filters by customer. */
  customer: 'customer_id' | 'customerid'
}

/** The APIs that receive records. */
const APIS: readonly Api[] = [
  {
    vertical: 'prop-trading',
    at: '/api/v1/prop-trading',
    caller: 'partner',
    customer: 'customer_id',
  },
  { vertical: 'forex', at: '/api/v1/forex', caller: 'partner', customer: 'customer_id' },
  { vertical: 'igaming', at: '/tracking/events', caller: 'brand', customer: 'customerid' },
]

const nounOf = (resource: string) => resource.replace('-', ' ')

/** Describes the forms of a request body: one record, an array, or an object with `data`. */
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
        ? `An array of 1 to ${MAX_RECORDS} records, or a single record.`
        : `An array of 1 to ${MAX_RECORDS} records, an object with that array as \`data\`, or a single record. In the object form \`meta\` is ignored, so that you can post the response of a list back.`,
    anyOf: [
      ref(component),
      { title: 'an array', ...records },
      ...(vertical === 'igaming' ? [] : [asData]),
    ],
  }
}

const SEND_HEADERS = [
  'RateLimit',
  'RateLimit-Policy',
  'x-d1-bookmark',
  'Preference-Applied',
] as const

const SEND_ERRORS: readonly ErrorCode[] = [
  'malformed_json',
  'invalid_query',
  'quota_exceeded',
  'payload_too_large',
  'unsupported_media_type',
  'validation_failed',
]

const ATOMIC =
  'If one record is invalid, nothing is stored, unless you send `Prefer: handling=lenient`.'

const sendDescription = (isBrand: boolean, resource: string) =>
  isBrand
    ? `Creates or ${resource === 'customers' ? 'extends' : 'replaces'} 1 to ${MAX_RECORDS} records. Records with the same key are merged in the order of the array. ${ATOMIC} With an \`Idempotency-Key\` you can repeat any request safely.`
    : `Creates or replaces 1 to ${MAX_RECORDS} records by key. ${ATOMIC} You can repeat the request safely until you send a newer version of the same records. The keys of the records make it safe, so the header \`Idempotency-Key\` is ignored.`

function send(api: Api, entity: Entity): Operation {
  const { at, caller, vertical } = api
  const isBrand = caller === 'brand'
  const result = { schema: ref('Result'), headers: SEND_HEADERS }
  return {
    method: 'post',
    path: `${at}/${entity.resource}`,
    id: `send${pascalCase(vertical)}${pascalCase(entity.resource)}`,
    tag: vertical,
    summary: `Send ${nounOf(entity.resource)}`,
    description: sendDescription(isBrand, entity.resource),
    caller,
    parameters: ['dry_run', 'Prefer', 'Content-Encoding', ...(isBrand ? ['Idempotency-Key'] : [])],
    body: { schema: ref(`${entity.component}Body`) },
    answers: {
      200: { description: 'All records are valid. See `results` for each outcome.', ...result },
      201: { description: 'A single record was sent, and it is new.', ...result },
      207: {
        description:
          'With `handling=lenient`: the valid records are stored, and `results` lists the errors of the others.',
        ...result,
      },
    },
    errors: [
      ...SEND_ERRORS,
      ...(isBrand ? (['invalid_request', 'idempotency_key_reused'] as const) : []),
    ],
  }
}

function list({ at, caller, vertical, customer }: Api, entity: Entity): Operation {
  const { resource, component } = entity
  const days = resource === 'customers' ? [] : ['from', 'to']
  return {
    method: 'get',
    path: `${at}/${resource}`,
    id: `list${pascalCase(vertical)}${pascalCase(resource)}`,
    tag: vertical,
    summary: `List ${nounOf(resource)}`,
    description:
      'Returns stored records in a fixed order, which is not alphabetical. Follow the cursor to read every record exactly once, even while new records arrive.',
    caller,
    parameters: [...PAGING, customer, ...days, 'x-d1-bookmark'],
    answers: {
      200: {
        description: 'One page of records.',
        schema: pageOf(ref(component)),
        headers: PAGE_HEADERS,
      },
    },
    errors: ['invalid_query'],
  }
}

/** Returns the parameter component for the id of a record. */
const idParameter = (caller: CallerKind, resource: string) => {
  if (caller === 'brand') return 'player'
  return resource === 'transactions' ? 'transaction' : 'id'
}

function read({ at, caller, vertical }: Api, { resource, component, title }: Entity): Operation {
  return {
    method: 'get',
    path: `${at}/${resource}/{id}`,
    id: `get${pascalCase(vertical)}${pascalCase(resource)}`,
    tag: vertical,
    summary: `Get a ${title.toLowerCase()}`,
    description: 'Returns a stored record. A held record is not found until it is released.',
    caller,
    parameters: [idParameter(caller, resource), 'x-d1-bookmark'],
    answers: { 200: { description: 'The record.', schema: ref(component), headers: READ_HEADERS } },
    errors: ['invalid_query', 'not_found'],
  }
}

/** Describes the route that takes the id as a query parameter, for ids that no path can contain. */
function readById(api: Api, entity: Entity): Operation {
  const { path, id, summary, parameters = [], ...operation } = read(api, entity)
  return {
    ...operation,
    path: path.replace('{id}', 'by-id'),
    id: `${id}ById`,
    summary: `${summary} by query parameter`,
    description:
      'Returns the same record as its path. Use this for the ids `.` and `..`, which URL parsers remove from a path.',
    parameters: [`${idParameter(api.caller, entity.resource)}_query`, ...parameters.slice(1)],
  }
}

/** Trading activity and brand activities have no address for a single record. */
const hasSingleRecords = ({ resource }: Entity) => /^(customers|transactions)$/.test(resource)

/** Lists the operations of partners and brands. */
export const records = (): Operation[] =>
  APIS.flatMap((api) => {
    const entities = ENTITIES.filter(({ vertical }) => vertical === api.vertical)
    return [
      ...entities.flatMap((entity) => [
        send(api, entity),
        list(api, entity),
        ...(hasSingleRecords(entity) ? [read(api, entity), readById(api, entity)] : []),
      ]),
      ...derivedFor(api.vertical, api.at, api.caller),
    ]
  })
