import { MAX_RECORDS } from '../../src/ingest/envelope.ts'
import { OUTCOME } from './explained/outcomes.ts'
import { PROBLEM } from './explained/problems.ts'
import { RULE } from './explained/rules.ts'
import { WARNING } from './explained/warnings.ts'
import type { JsonSchema } from './types.ts'

// What stands around the records: of requests and of answers.

const TEXT = { type: 'string' }
const COUNT = { type: 'integer', minimum: 0 }

/** An object of these members; those named `optional` may be absent. */
export const object = (
  properties: Record<string, JsonSchema>,
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
})

const said = (description: string, schema: JsonSchema = TEXT): JsonSchema => ({
  ...schema,
  description,
})

const key = said('The members that tell the record from others, as they were sent.', {
  type: 'object',
  additionalProperties: TEXT,
})

const pointer = said('RFC 6901: where in the body as it was sent.', {
  type: 'string',
  pattern: '^(/([^~/]|~[01])*)*$',
})

const index = said('Which record of the request, from 0.', COUNT)

const codes = (of: object) => ({ type: 'string', enum: Object.keys(of) })

/** One broken rule. */
const brokenRule = object(
  {
    index,
    key,
    pointer,
    code: said('Which rule; /docs/errors tells cause and cure.', codes(RULE)),
    message: said('What is wrong, in words. It never says a personal value back.'),
    hint: said('What was probably meant.'),
  },
  ['index', 'key', 'hint'],
)

const warning = object({
  code: said('What the sender should know; /docs/outcomes tells more.', codes(WARNING)),
  pointer,
  message: said('The same in words.'),
})

const outcome = said('What became of the record.', codes(OUTCOME))

const summary = object({
  received: said('How many there were.', COUNT),
  ...Object.fromEntries(
    Object.keys(OUTCOME).map((name) => [name, said(`How many are \`${name}\`.`, COUNT)]),
  ),
})

const deliveryId = said('Names this request for good; quote it when you ask for help.', {
  type: 'string',
  pattern: '^dlv_[0-9A-HJKMNP-TV-Z]{26}$',
})

/** The parts that envelopes share, by name. */
export const PARTS: Record<string, JsonSchema> = {
  BrokenRule: {
    title: 'Broken rule',
    description: 'One rule that a record breaks.',
    ...brokenRule,
  },
  Warning: { title: 'Warning', description: 'The record is stored all the same.', ...warning },
  Summary: {
    title: 'Summary',
    description: 'How many records the request brought, and what became of them.',
    ...summary,
  },
  DeliveryId: { title: 'Delivery id', ...deliveryId },
}

/** The schemas of the envelopes by file name; `at` is where the parts are. */
export const envelopes = (at: string): Record<string, JsonSchema> => ({
  bulk: {
    title: 'Bulk',
    description: `1 to ${MAX_RECORDS} records: an array, or an object with them as \`data\`, as a list answers them. Which records, the schema of the entity says. One record may also be sent alone.`,
    anyOf: [
      {
        title: 'an array',
        type: 'array',
        minItems: 1,
        maxItems: MAX_RECORDS,
        items: { type: 'object' },
      },
      {
        title: 'as data',
        type: 'object',
        properties: {
          data: { type: 'array', minItems: 1, maxItems: MAX_RECORDS, items: { type: 'object' } },
          meta: said('Ignored: what a list answered can be posted back.', {}),
        },
        required: ['data'],
        additionalProperties: false,
      },
    ],
    'x-rules': {
      payload_too_large:
        'At most 8 MiB once decompressed, and at most 250,000 values, 50,000 of them objects and lists.',
      malformed_json: 'Nested at most 8 deep.',
      duplicate_key: 'No key twice; brands may, and the records apply in order.',
      required: 'Brands send the array itself: to them `data` is a member as any other.',
    },
  },
  result: {
    title: 'Result',
    description: 'What became of each record of a request.',
    ...object(
      {
        delivery_id: { $ref: `${at}DeliveryId` },
        dry_run: said('Whether it was only judged.', { type: 'boolean' }),
        summary: { $ref: `${at}Summary` },
        errors_total: said('How many errors there are; only where records were rejected.', COUNT),
        results: said(
          'One for each record, in order; with `Prefer: return=minimal` only those with a warning or an error.',
          {
            type: 'array',
            items: object(
              {
                index,
                key,
                outcome,
                warnings: { type: 'array', items: { $ref: `${at}Warning` } },
                warnings_total: said(
                  'How many warnings there are, where the record itself gives rise to more than 10: these are not written out.',
                  COUNT,
                ),
                errors: { type: 'array', items: { $ref: `${at}BrokenRule` } },
              },
              ['key', 'warnings', 'warnings_total', 'errors'],
            ),
          },
        ),
      },
      ['errors_total'],
    ),
  },
  list: {
    title: 'List',
    description: 'One page of records.',
    ...object({
      data: said('The records, in the order of their keys.', {
        type: 'array',
        items: { type: 'object' },
      }),
      meta: meta(),
    }),
  },
  problem: {
    title: 'Problem',
    description: 'Why a request failed, as RFC 9457.',
    ...object(
      {
        type: said('The page that explains the code.', { type: 'string', format: 'uri' }),
        title: said('The code in words.'),
        status: said('The status of the answer.', { type: 'integer', minimum: 400, maximum: 599 }),
        code: said('What to decide by; it never changes its meaning.', codes(PROBLEM)),
        detail: said('What happened this time.'),
        request_id: said('Also in the header X-Request-Id.', { type: 'string', format: 'uuid' }),
        delivery_id: { $ref: `${at}DeliveryId` },
        errors: said('Up to 10 of one record, and 1000 in all.', {
          type: 'array',
          items: { $ref: `${at}BrokenRule` },
        }),
        errors_total: said('All of them, counted.', COUNT),
      },
      ['delivery_id', 'errors', 'errors_total'],
    ),
  },
})

/** Where a page stands among the others. */
export const meta = (): JsonSchema =>
  object({
    total: said('How many there are that the filter matches.', COUNT),
    page: said('Which page, from 1; under a cursor it counts on.', { type: 'integer', minimum: 1 }),
    per_page: said('How many a page has.', { type: 'integer', minimum: 1, maximum: 500 }),
    next_cursor: said('What to send as `cursor` for the next page; null on the last one.', {
      type: ['string', 'null'],
    }),
  })
