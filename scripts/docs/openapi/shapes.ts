import { definitionFields } from '../../../src/admin/definition-fields.ts'
import { PRODUCTS } from '../../../src/db/directory/event-definitions.ts'
import { documented, object } from '../envelopes.ts'
import { closedObject, nullable } from '../json-schema.ts'
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

/** Describes an event definition, as the integrations team sends it. */
export const newDefinition = () => {
  const { properties, ...rest } = closedObject(definitionFields, AT)
  const { kpis, product, ...others } = properties as Record<string, JsonSchema>
  return {
    ...rest,
    properties: {
      ...others,
      kpis: { ...kpis, items: TEXT },
      product: productSchema(product ?? {}),
    },
  }
}

const productSchema = ({ description, examples }: JsonSchema): JsonSchema => ({
  ...nullable(
    object({
      field: ref('Text'),
      map: { type: 'object', additionalProperties: oneOf(...PRODUCTS) },
    }),
  ),
  description,
  examples,
})

/** Describes an event definition, as it is returned. */
export const returnedDefinition = (): JsonSchema => {
  const { properties } = newDefinition()
  return object({ eventname: TEXT, ...properties })
}

/** Describes the zone of a partner's days, which is absent if it is UTC. */
export const BOOK_ZONE = documented(
  'Partners only: the IANA time zone by which `signup_date` and `transaction_date` belong to days. Absent for UTC.',
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
      policies,
      ...more,
    },
    ['book_zone', ...optional],
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

/** The freshness of a resource. */
export const feed = object(
  {
    resource,
    last_delivery_at: documented(
      'When the last delivery arrived. Null if there has been none.',
      orNull(TIME),
    ),
    lag_seconds: documented(
      'The seconds since the last delivery, even if it was rejected.',
      orNull(COUNT),
    ),
    received_last_day: documented('The number of records in the last 24 hours.', COUNT),
    refused_share_last_day: documented(
      'The share of those records that was rejected. Null if there were none.',
      { type: ['number', 'null'], minimum: 0, maximum: 1 },
    ),
    yesterday: documented(
      'Whether activity dated yesterday (UTC) arrived by 06:00 UTC. `in_time` means at least one record, not all. Absent for resources without that deadline.',
      oneOf('in_time', 'late', 'missing', 'pending'),
    ),
  },
  ['yesterday'],
)

/** Describes a control total with the members that identify its group. */
export const totalOf = (groups: Record<string, JsonSchema>) =>
  object(
    {
      day: documented(
        'The day. For partners in UTC; for brands as sent, or in the time zone of the account.',
        DAY,
      ),
      resource,
      ...groups,
      count: documented('The number of records.', COUNT),
      sums: decimals,
    },
    Object.keys(groups),
  )

/** The end of the previous secret. */
export const secretUntil = documented(
  'When the previous secret stops working. Null if it already has.',
  orNull(TIME),
)

/** A link. */
export const link = object({
  link_id: documented('The id of the link.'),
  url: documented('The address that visitors follow.', { type: 'string', format: 'uri' }),
  affiliate_id: documented('The affiliate that the link belongs to.'),
  name: documented('The display name of the link.', orNull(TEXT)),
  landing_page: documented('The page that visitors are redirected to.', {
    type: 'string',
    format: 'uri',
  }),
  disabled: documented('Whether the link has stopped redirecting.', FLAG),
  created_at: TIME,
})

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
      more_affiliates: documented('Present if the account has more affiliates than listed.', {
        const: true,
      }),
    },
    ['more_affiliates'],
  )
