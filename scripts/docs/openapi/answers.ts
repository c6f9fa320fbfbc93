import { definitionFields } from '../../../src/admin/fields.ts'
import { PRODUCTS } from '../../../src/db/definitions.ts'
import { envelopes, meta, object, PARTS } from '../envelopes.ts'
import { closedObject, nullable } from '../json-schema.ts'
import type { JsonSchema } from '../types.ts'
import { ref } from './operation.ts'

// The shapes of answers that are no records.

const AT = '#/components/schemas/'

const TEXT: JsonSchema = { type: 'string' }
const TIME: JsonSchema = { type: 'string', format: 'date-time' }
const DAY: JsonSchema = { type: 'string', format: 'date' }
const COUNT: JsonSchema = { type: 'integer', minimum: 0 }
const FLAG: JsonSchema = { type: 'boolean' }
const oneOf = (...words: string[]): JsonSchema => ({ type: 'string', enum: words })
const orNull = ({ type, ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  type: [type, 'null'],
})
const said = (description: string, schema: JsonSchema = TEXT): JsonSchema => ({
  ...schema,
  description,
})

const vertical = oneOf('prop-trading', 'forex', 'igaming')
const mode = said('The data of a test account can be reset.', oneOf('live', 'test'))
const policies = object({
  unknown_customer: oneOf('reject', 'hold'),
  unknown_affiliate: oneOf('warn', 'reject'),
})
const takes_effect = said(
  'When live tokens act on it; `within a minute` where they could not be told at once.',
  oneOf('now', 'within a minute'),
)
const decimals = said('Exact decimal text, by the name of what is summed.', {
  type: 'object',
  additionalProperties: { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' },
})

/** What an event definition is answered as: all of it is there. */
const definition = () => {
  const { properties, ...rest } = closedObject(definitionFields, AT)
  const { kpis, product, ...others } = properties as Record<string, JsonSchema>
  return {
    ...rest,
    properties: {
      ...others,
      kpis: { ...kpis, items: TEXT },
      product: productOf(product!),
    },
  }
}

const productOf = ({ description, examples }: JsonSchema): JsonSchema => ({
  ...nullable(
    object({
      field: ref('Text'),
      map: { type: 'object', additionalProperties: oneOf(...PRODUCTS) },
    }),
  ),
  description,
  examples,
})

const answered = (): JsonSchema => {
  const { properties } = definition()
  return object({ eventname: TEXT, ...properties })
}

/** What the integrations team sends as an event definition. */
export const newDefinition = (): JsonSchema => definition()

const account = (more: Record<string, JsonSchema>) =>
  object({ account: TEXT, name: TEXT, vertical, mode, time_zone: TEXT, policies, ...more })

const delivery = {
  delivery_id: ref('DeliveryId'),
  received_at: TIME,
  resource: TEXT,
  status: said('What the request was answered with.', {
    type: 'integer',
    enum: [200, 201, 207, 422],
  }),
  dry_run: FLAG,
  summary: ref('Summary'),
  errors_total: COUNT,
}

const feed = object(
  {
    resource: TEXT,
    last_delivery_at: orNull(TIME),
    lag_seconds: said('How long ago that was.', orNull(COUNT)),
    received_last_day: said('Records, in the last 24 hours.', COUNT),
    refused_share_last_day: said('The share of them that was refused; null if there were none.', {
      type: ['number', 'null'],
      minimum: 0,
      maximum: 1,
    }),
    yesterday: said(
      "Whether yesterday's activity came by 06:00 UTC; only of resources that are due by then.",
      oneOf('in_time', 'late', 'missing', 'pending'),
    ),
  },
  ['yesterday'],
)

const totalOf = (groups: Record<string, JsonSchema>) =>
  object({ day: DAY, resource: TEXT, ...groups, count: COUNT, sums: decimals }, Object.keys(groups))

const secretUntil = said('Until when the one before stays good; null: it has ended.', orNull(TIME))

const link = object({
  link_id: TEXT,
  url: said('What visitors follow.', { type: 'string', format: 'uri' }),
  affiliate_id: TEXT,
  name: orNull(TEXT),
  landing_page: { type: 'string', format: 'uri' },
  disabled: FLAG,
  created_at: TIME,
})

const verdict = oneOf('attributed', 'organic', 'altered', 'foreign', 'unrecognised', 'conflict')

const jwk = object({ kty: TEXT, n: TEXT, e: TEXT, alg: TEXT, use: TEXT, kid: TEXT })

const ANSWERS: Record<string, JsonSchema> = {
  Account: account({ binding: TEXT, disabled: FLAG, created_at: TIME }),
  ChangedAccount: account({ binding: TEXT, disabled: FLAG, created_at: TIME, takes_effect }),
  PartnerSelf: account({
    client_id: TEXT,
    scope: TEXT,
    affiliates: { type: 'array', items: TEXT },
  }),
  BrandSelf: account({
    scope: TEXT,
    affiliates: { type: 'array', items: TEXT },
    events: { type: 'array', items: ref('EventDefinition') },
  }),
  Delivery: object(delivery),
  DeliveryInFull: object({
    ...delivery,
    errors: said('The first 100, of at most 64 KiB.', { type: 'array', items: ref('BrokenRule') }),
  }),
  PartnerTotal: totalOf({ transaction_type: TEXT, status: TEXT, currency: TEXT }),
  BrandTotal: totalOf({ eventname: TEXT, product: orNull(TEXT), Currency: orNull(TEXT) }),
  Feed: feed,
  FeedOfAccount: object({
    account: TEXT,
    name: TEXT,
    vertical,
    feeds: { type: 'array', items: ref('Feed') },
  }),
  EventDefinition: answered(),
  ChangedEventDefinition: object({ ...(answered().properties as object), takes_effect }),
  Client: object({
    client_id: TEXT,
    revoked: FLAG,
    previous_secret_until: secretUntil,
    created_at: TIME,
  }),
  NewClient: object({
    client_id: TEXT,
    client_secret: said('Shown this once.'),
    created_at: TIME,
  }),
  RotatedClient: object({
    client_id: TEXT,
    client_secret: said('Shown this once.'),
    previous_secret_until: secretUntil,
    takes_effect,
  }),
  BrandToken: object({ id: TEXT, alive: FLAG, ends_at: orNull(TIME), created_at: TIME }),
  NewBrandToken: object({
    id: TEXT,
    brand_token: said('Shown this once.'),
    created_at: TIME,
    takes_effect,
  }),
  Affiliate: object({ affiliate_id: TEXT, parent: orNull(TEXT) }),
  Link: link,
  Erasure: object({ customer_id: TEXT, erased_at: TIME }),
  Attributed: object({
    customer_id: TEXT,
    day: DAY,
    attribution: object({
      verdict,
      link_id: orNull(TEXT),
      affiliate_id: said('Who is paid; null: nobody.', orNull(TEXT)),
      affiliate_configured: FLAG,
    }),
  }),
  Attribution: object({ day: DAY, verdict, link_id: orNull(TEXT), customers: COUNT }),
  Clicks: object({ day: DAY, link_id: TEXT, clicks: COUNT }),
  Audited: object({
    id: TEXT,
    at: TIME,
    actor: TEXT,
    action: TEXT,
    account: orNull(TEXT),
    details: { type: 'object' },
  }),
  AccessToken: object({
    access_token: TEXT,
    token_type: { const: 'Bearer' },
    expires_in: said('Seconds.', { type: 'integer', const: 3600 }),
    scope: TEXT,
  }),
  OAuthError: object({
    error: said(
      'As RFC 6749 §5.2 has it.',
      oneOf(
        'invalid_request',
        'invalid_client',
        'invalid_scope',
        'unsupported_grant_type',
        'temporarily_unavailable',
        'server_error',
      ),
    ),
    error_description: TEXT,
  }),
  Jwks: object({ keys: { type: 'array', items: jwk } }),
  AuthorizationServer: object({
    issuer: TEXT,
    token_endpoint: TEXT,
    revocation_endpoint: TEXT,
    jwks_uri: TEXT,
    grant_types_supported: { type: 'array', items: TEXT },
    response_types_supported: { type: 'array', items: TEXT },
    token_endpoint_auth_methods_supported: { type: 'array', items: TEXT },
    revocation_endpoint_auth_methods_supported: { type: 'array', items: TEXT },
    scopes_supported: { type: 'array', items: TEXT },
    service_documentation: TEXT,
  }),
}

/** All shapes of answers that are no records, by the names of their components. */
export const answerSchemas = (): Record<string, JsonSchema> => {
  const { result, problem } = envelopes(AT)
  return {
    ...Object.fromEntries(
      Object.entries(PARTS).map(([name, { title: _, ...schema }]) => [name, schema]),
    ),
    Result: result!,
    Problem: problem!,
    Meta: meta(),
    ...ANSWERS,
  }
}
