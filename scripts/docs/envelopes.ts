import { MAX_RECORDS } from '../../src/ingest/envelope.ts'
import { EXPLAINED, type Noun } from './explained.ts'
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

const key = documented('The members that identify the record, as sent.', {
  type: 'object',
  additionalProperties: TEXT,
})

const pointer = documented('A JSON Pointer (RFC 6901) into the body as sent.', {
  type: 'string',
  pattern: '^(/([^~/]|~[01])*)*$',
})

const index = documented('The position of the record in the request, from 0.', COUNT)

const codesOf = (noun: Noun) => ({ type: 'string', enum: Object.keys(EXPLAINED[noun]) })

const brokenRule = object(
  {
    index,
    key,
    pointer,
    code: documented('The broken rule. See `/docs/errors`.', codesOf('rule')),
    message: documented('What is wrong. It never contains the value of a personal field.'),
    hint: documented('What was probably meant.'),
  },
  ['index', 'key', 'hint'],
)

const warning = object(
  {
    code: documented('The code of the warning. See `/docs/warnings`.', codesOf('warning')),
    pointer,
    message: documented('What the sender should know.'),
    from: documented(
      'Of `affiliation_changed`: the day from which the new affiliate counts. The day of the signup if the first affiliate was corrected.',
      { type: 'string', format: 'date', examples: ['2026-11-25'] },
    ),
  },
  ['from'],
)

const outcome = documented('The outcome of the record.', codesOf('outcome'))

const summary = object(
  {
    received: documented('The number of records in the request.', COUNT),
    ...Object.fromEntries(
      Object.keys(EXPLAINED.outcome).map((name) => [
        name,
        documented(`The number of records with the outcome \`${name}\`.`, COUNT),
      ]),
    ),
    warnings: documented(
      'The number of warnings of all records. The log of deliveries does not count them.',
      COUNT,
    ),
  },
  ['warnings'],
)

const deliveryId = documented(
  'The permanent id of the request. Quote it when you ask for support.',
  {
    type: 'string',
    pattern: '^dlv_[0-9A-HJKMNP-TV-Z]{26}$',
  },
)

const deliveryUrl = documented(
  'The address at which the account reads the delivery, with the errors of its rejected records, for 30 days.',
  { type: 'string', format: 'uri' },
)

/** The parts that several envelopes share, by name. */
export const PARTS: Record<string, JsonSchema> = {
  BrokenRule: {
    title: 'Broken rule',
    description: 'A rule that a record breaks.',
    ...brokenRule,
  },
  Warning: { title: 'Warning', description: 'A warning about a stored record.', ...warning },
  Summary: {
    title: 'Summary',
    description: 'The number of records in the request, in total and by outcome.',
    ...summary,
  },
  DeliveryId: { title: 'Delivery id', ...deliveryId },
}

const bulkRecords = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_RECORDS,
  items: { type: 'object' },
}

const bulk: JsonSchema = {
  title: 'Bulk',
  description: `A request of 1 to ${MAX_RECORDS} records: an array, or an object with the array as \`data\`. The schema of the entity describes the records. A single record may be sent without an array.`,
  anyOf: [
    { title: 'an array', ...bulkRecords },
    {
      title: 'as data',
      type: 'object',
      properties: {
        data: bulkRecords,
        meta: documented('Ignored, so that you can post the response of a list back.', {}),
      },
      required: ['data'],
      additionalProperties: false,
    },
  ],
  'x-rules': {
    payload_too_large:
      'A body has at most 8 MiB after decompression, 250,000 values, and 50,000 objects and arrays.',
    malformed_json: 'The nesting depth is at most 8.',
    duplicate_key:
      'A key appears at most once. Brands may repeat a key: the records apply in order.',
    required: 'Brands send the array itself. To them, `data` is an ordinary member.',
  },
}

const results = (at: string) =>
  documented(
    'One result for each record, in order. With `Prefer: return=minimal`, only those with a warning or an error.',
    {
      type: 'array',
      items: object(
        {
          index,
          key,
          outcome,
          warnings: { type: 'array', items: { $ref: `${at}Warning` } },
          warnings_total: documented(
            'The number of warnings, if the record has more than the 10 that are listed.',
            COUNT,
          ),
          errors: { type: 'array', items: { $ref: `${at}BrokenRule` } },
        },
        ['key', 'warnings', 'warnings_total', 'errors'],
      ),
    },
  )

const result = (at: string): JsonSchema => ({
  title: 'Result',
  description: 'The outcome of each record of a request.',
  ...object(
    {
      delivery_id: { $ref: `${at}DeliveryId` },
      delivery_url: deliveryUrl,
      dry_run: documented('Whether the request was only validated.', { type: 'boolean' }),
      summary: { $ref: `${at}Summary` },
      releasing: documented(
        'Present if more records wait for these customers than one request releases. The others are released within minutes; until then `GET held` lists them.',
        { const: true },
      ),
      errors: documented(
        'At most 1000 errors, as a 422 lists them. Present if records were rejected.',
        { type: 'array', items: { $ref: `${at}BrokenRule` } },
      ),
      errors_total: documented('The number of errors. Present if records were rejected.', COUNT),
      results: results(at),
    },
    ['releasing', 'errors', 'errors_total'],
  ),
})

const list = (): JsonSchema => ({
  title: 'List',
  description: 'One page of records.',
  ...object({
    data: documented('The records, in a fixed order.', {
      type: 'array',
      items: { type: 'object' },
    }),
    meta: meta(),
  }),
})

const problem = (at: string): JsonSchema => ({
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
      code: documented(
        'The error code. Its meaning never changes, so programs can depend on it.',
        codesOf('problem'),
      ),
      detail: documented('What went wrong in this request.'),
      request_id: documented('The id of the request, as in `X-Request-Id`.', {
        type: 'string',
        format: 'uuid',
      }),
      delivery_id: { $ref: `${at}DeliveryId` },
      delivery_url: deliveryUrl,
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
      changed: documented('What changed of a case of the fraud review since a person saw it.', {
        type: 'object',
      }),
    },
    ['delivery_id', 'delivery_url', 'summary', 'errors', 'errors_total', 'held_by', 'changed'],
  ),
})

/** Returns the schemas of the envelopes by file name. `at` is the location of the parts. */
export const envelopes = (at: string): Record<string, JsonSchema> => ({
  bulk,
  result: result(at),
  list: list(),
  problem: problem(at),
})

/** Describes the position of a page in its list. */
export const meta = (): JsonSchema =>
  object(
    {
      total: documented(
        'The number of records that match the filter. A filtered list counts them for the first page; the pages after a cursor repeat the number.',
        COUNT,
      ),
      total_is_limited: documented(
        'Present if more records match than are counted: `total` is then at most 100,000.',
        { const: true },
      ),
      page: documented('The page number, from 1. It increases with a cursor, too.', {
        type: 'integer',
        minimum: 1,
      }),
      per_page: documented('The size of a page.', { type: 'integer', minimum: 1, maximum: 500 }),
      next_cursor: documented('The `cursor` of the next page. Null on the last page.', {
        type: ['string', 'null'],
      }),
    },
    ['total_is_limited'],
  )
