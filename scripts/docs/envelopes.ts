import * as v from 'valibot'
import { MAX_RECORDS } from '../../src/ingest/envelope.ts'
import { deliveryId, deliveryUrl } from '../../src/ingest/result-fields.ts'
import { bodyOf } from '../operations.ts'
import { EXPLAINED } from './explained.ts'
import { property } from './json-schema.ts'
import type { JsonSchema } from './types.ts'

// The schemas around the records: of requests and of responses.

const TEXT = { type: 'string' }
const COUNT = { type: 'integer', minimum: 0 }

/** Describes an object. All members are required, except those in `optional`. */
export const object = (
  properties: Record<string, JsonSchema>,
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
})

/** Adds a description to a schema, which is text by default. */
export const documented = (description: string, schema: JsonSchema = TEXT): JsonSchema => ({
  ...schema,
  description,
})

/** The rules of a bulk that no keyword of JSON Schema expresses. */
const BULK_RULES = {
  payload_too_large:
    'A body has at most 8 MiB after decompression, 250,000 values, and 50,000 objects and arrays.',
  malformed_json: 'The nesting depth is at most 8.',
  duplicate_key: 'A key appears at most once. Brands may repeat a key: the records apply in order.',
  required: 'Brands send the array itself. To them, `data` is an ordinary member.',
}

/** Describes what is sent as a bulk: all forms of a body but a single record. */
function bulk(): JsonSchema {
  const { anyOf = [] } = property(bodyOf(v.record(v.string(), v.unknown()), true), '') as {
    anyOf?: JsonSchema[]
  }
  return {
    title: 'Bulk',
    description: `A request of 1 to ${MAX_RECORDS} records: an array, or an object with the array as \`data\`. The schema of the entity describes the records. A single record may be sent without an array.`,
    anyOf: anyOf.slice(1),
    'x-rules': BULK_RULES,
  }
}

const list = (at: string): JsonSchema => ({
  title: 'List',
  description: 'One page of records.',
  ...object({
    data: documented('The records, in a fixed order.', {
      type: 'array',
      items: { type: 'object' },
    }),
    meta: { $ref: `${at}Meta` },
  }),
})

/** Describes an error. `at` is the location of the schemas that it names. */
export const problem = (at: string): JsonSchema => ({
  title: 'Problem',
  description: 'The reason why a request failed (RFC 9457).',
  ...object(
    {
      type: documented('The page that explains the code.', { type: 'string', format: 'uri' }),
      title: documented('A summary of the code.'),
      status: documented('The status of the response.', {
        type: 'integer',
        minimum: 400,
        maximum: 599,
      }),
      code: documented('The error code. Its meaning never changes, so programs can depend on it.', {
        type: 'string',
        enum: Object.keys(EXPLAINED.problem),
      }),
      detail: documented('What went wrong in this request.'),
      request_id: documented('The id of the request, as in `X-Request-Id`.', {
        type: 'string',
        format: 'uuid',
      }),
      delivery_id: property(deliveryId, at),
      delivery_url: property(deliveryUrl, at),
      summary: { $ref: `${at}Summary` },
      errors: documented('At most 10 errors for each record, and 1000 in total.', {
        type: 'array',
        items: { $ref: `${at}BrokenRule` },
      }),
      errors_total: documented('The number of all errors, listed or not.', COUNT),
      held_by: documented('The ids of the cases of the fraud review that hold a payout.', {
        type: 'array',
        items: { type: 'string' },
      }),
    },
    ['delivery_id', 'delivery_url', 'summary', 'errors', 'errors_total', 'held_by'],
  ),
})

/** Returns the schemas of the envelopes by file name. `at` is the location of the schemas that answers name. */
export const envelopes = (at: string, { Result }: Record<string, JsonSchema>) => ({
  bulk: bulk(),
  result: { title: 'Result', description: 'The outcome of each record of a request.', ...Result },
  list: list(at),
  problem: problem(at),
})
