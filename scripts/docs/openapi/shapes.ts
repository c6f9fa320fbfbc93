import { ATTENTION_CODES } from '../../../src/ingest/attention-codes.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { ref } from './operation.ts'

// The building blocks of response schemas.

/** The location of schemas in the components. */
export const AT = '#/components/schemas/'

/** Any text. */
export const TEXT: JsonSchema = { type: 'string' }

/** A date-time. */
export const TIME: JsonSchema = { type: 'string', format: 'date-time' }

/** A day. */
export const DAY: JsonSchema = { type: 'string', format: 'date' }

/** A count. */
export const COUNT: JsonSchema = { type: 'integer', minimum: 0 }

/** A boolean. */
export const FLAG: JsonSchema = { type: 'boolean' }

/** Describes an enumeration. */
export const oneOf = (...values: string[]): JsonSchema => ({ type: 'string', enum: values })

/** Describes a list. */
export const listed = (description: string, items: JsonSchema) =>
  documented(description, { type: 'array', items })

/** Allows null beside the type of a schema. */
export const orNull = ({ type, ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  type: [type, 'null'],
})

const resource = documented(
  'The resource, as it is named in the address.',
  oneOf('customers', 'transactions', 'trading-activity', 'activities'),
)

/** The vertical of an account. */
export const vertical = documented(
  'The vertical, which determines the API.',
  oneOf('prop-trading', 'forex', 'igaming'),
)

const mode = documented('The data of a `test` account can be reset.', oneOf('live', 'test'))

const policies = object({
  unknown_customer: documented(
    'Whether a record of an unknown customer is rejected or held.',
    oneOf('reject', 'hold'),
  ),
  unknown_affiliate: documented(
    'Whether an affiliate that is not configured causes a warning or an error.',
    oneOf('warn', 'reject'),
  ),
})

/** When a change reaches live tokens. */
export const takes_effect = documented(
  'When live tokens follow the change. `within a minute` means that some could not be notified at once.',
  oneOf('now', 'within a minute'),
)

const decimals = documented('Exact decimal text, by the name of the summed field.', {
  type: 'object',
  additionalProperties: { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' },
})

/** Describes the zone of a partner's days, which is absent if it is UTC. */
export const BOOK_ZONE = documented(
  'Partners only: the IANA time zone by which `signup_date` and `transaction_date` belong to days. Absent for UTC.',
)

const amountSigns = documented(
  'How the account writes the amounts of outflows: positive, as all amounts, or negative. Absent for `magnitude`.',
  oneOf('magnitude', 'signed'),
)

/** Describes an account, with members that depend on its reader. */
export const account = (more: Record<string, JsonSchema>, optional: readonly string[] = []) =>
  object(
    {
      account: documented('The id of the account.'),
      name: documented('The display name of the account.'),
      vertical,
      mode,
      time_zone: documented('The time zone of times without an offset.'),
      book_zone: BOOK_ZONE,
      amount_signs: amountSigns,
      policies,
      ...more,
    },
    [
      'address',
      'locale',
      'book_zone',
      'amount_signs',
      'exports',
      'unattributed_threshold',
      'landing_pages',
      'accent_color',
      'logo',
      ...optional,
    ],
  )

/** The members of a delivery. */
export const delivery = {
  delivery_id: ref('DeliveryId'),
  received_at: documented('When the request arrived.', TIME),
  resource,
  status: documented('The status of the response.', {
    type: 'integer',
    enum: [200, 201, 207, 422],
  }),
  dry_run: documented('Whether the request was only validated.', FLAG),
  summary: ref('Summary'),
  errors_total: documented('The number of errors.', COUNT),
}

/** The records of a delivery that have a certain id. */
const foundRecord = object(
  {
    index: documented('The position of the record in the request, from 0.', COUNT),
    key: documented('The members that identify the record, at most 40 characters of each.', {
      type: 'object',
      additionalProperties: TEXT,
    }),
    outcome: documented(
      '`rejected`, or what the delivery made of the record that is stored.',
      oneOf('created', 'updated', 'held', 'rejected'),
    ),
    errors: { type: 'array', items: ref('BrokenRule') },
  },
  ['index', 'key', 'errors'],
)

/** A delivery that was found by the id of a record, or by other filters. */
export const foundDelivery = object(
  {
    ...delivery,
    records: documented(
      'With `record_id`: the records of the delivery with this id that were rejected, or that are stored as this delivery sent them.',
      { type: 'array', items: foundRecord },
    ),
  },
  ['records'],
)

/** Where a stored record came from. */
export const storedRecord = object({
  resource,
  delivery_id: ref('DeliveryId'),
  received_at: documented('When the delivery arrived that last changed the record.', TIME),
  outcome: documented(
    'What that delivery did, or `held` while the record waits for its customer.',
    oneOf('created', 'updated', 'held'),
  ),
})

/** A refused record of a delivery. */
export const refusedRecord = object(
  {
    index: documented(
      'The position of the record in the request, from 0. Absent for errors of the whole body.',
      COUNT,
    ),
    key: documented('The members that identify the record, at most 40 characters of each.', {
      type: 'object',
      additionalProperties: TEXT,
    }),
    errors: documented('At most 10 errors. Messages do not quote values.', {
      type: 'array',
      items: ref('BrokenRule'),
    }),
  },
  ['index', 'key'],
)

/** The same error across the records of a delivery. */
export const errorGroup = object({
  code: documented('The broken rule.'),
  pointer: documented('The JSON Pointer, with `*` in place of the position of the record.'),
  count: documented('The number of these errors.', COUNT),
  example: documented('The first of them.', ref('BrokenRule')),
})

/** What needs the attention of an account. */
export const attention = documented('What needs attention, in the order of urgency.', {
  type: 'array',
  items: object(
    {
      code: documented('What it is.', oneOf(...ATTENTION_CODES)),
      count: documented(
        'How many feeds, records, credentials, webhooks, statuses, affiliates, statements, payments or cases it concerns.',
        COUNT,
      ),
      names: documented(
        'What it is about: resources, statuses, amounts, event names, affiliates, hosts, currencies, periods or instants.',
        { type: 'array', items: { type: 'string' } },
      ),
      detail: documented('What it means and what to do.'),
      url: documented('Where to look.', { type: 'string', format: 'uri' }),
    },
    ['url'],
  ),
})

/** Describes a control total with the members that identify its group. */
export const totalOf = (groups: Record<string, JsonSchema>) =>
  object(
    {
      day: documented(
        'The day. For partners in the `book_zone` of the account, UTC by default, and of trading activity as sent; for brands as sent, or in the time zone of the account.',
        DAY,
      ),
      resource,
      ...groups,
      count: documented('The number of records.', COUNT),
      sums: decimals,
    },
    Object.keys(groups),
  )

/** The result of verifying `tracking_data`. */
export const verdict = oneOf(
  'attributed',
  'organic',
  'altered',
  'foreign',
  'unrecognised',
  'conflict',
)

/** A public key. */
export const jwk = object({ kty: TEXT, n: TEXT, e: TEXT, alg: TEXT, use: TEXT, kid: TEXT })

/** The scope of credentials. */
export const scope = documented('The granted scopes: a subset of `read write`.')

/** The configured affiliates. */
const affiliates = documented('The first 1000 ids of the configured affiliates, in order.', {
  type: 'array',
  items: TEXT,
})

/** Describes the account of the caller. */
export const ownAccount = (more: Record<string, JsonSchema>) =>
  account(
    {
      ...more,
      scope,
      affiliates,
      attention,
      more_affiliates: documented('Present if the account has more affiliates than listed.', {
        const: true,
      }),
    },
    ['more_affiliates'],
  )
