import { definitionFields } from '../../../src/admin/fields.ts'
import { PRODUCTS } from '../../../src/db/directory/event-definitions.ts'
import { object } from '../envelopes.ts'
import { closedObject, nullable } from '../json-schema.ts'
import type { JsonSchema } from '../types.ts'
import { ref } from './operation.ts'

// What answers are made of.

/** Where the components are. */
export const AT = '#/components/schemas/'

/** Any text. */
export const TEXT: JsonSchema = { type: 'string' }

/** A date-time. */
export const TIME: JsonSchema = { type: 'string', format: 'date-time' }

/** A day. */
export const DAY: JsonSchema = { type: 'string', format: 'date' }

/** A count. */
export const COUNT: JsonSchema = { type: 'integer', minimum: 0 }

/** True or false. */
export const FLAG: JsonSchema = { type: 'boolean' }

/** One of these words. */
export const oneOf = (...words: string[]): JsonSchema => ({ type: 'string', enum: words })

/** The same, or null. */
export const orNull = ({ type, ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  type: [type, 'null'],
})

/** A schema, and what it is. */
export const said = (description: string, schema: JsonSchema = TEXT): JsonSchema => ({
  ...schema,
  description,
})

const resource = said(
  'The noun in its address.',
  oneOf('customers', 'transactions', 'trading-activity', 'activities'),
)

/** Which API an account calls. */
export const vertical = said('Which API it calls.', oneOf('prop-trading', 'forex', 'igaming'))

const mode = said('The data of a test account can be reset.', oneOf('live', 'test'))

const policies = object({
  unknown_customer: said(
    'What becomes of a record whose customer is not known.',
    oneOf('reject', 'hold'),
  ),
  unknown_affiliate: said(
    'What becomes of a customer whose affiliate is not configured.',
    oneOf('warn', 'reject'),
  ),
})

/** When a change is acted on. */
export const takes_effect = said(
  'When live tokens act on it; `within a minute` where they could not be told at once.',
  oneOf('now', 'within a minute'),
)

const decimals = said('Exact decimal text, by the name of what is summed.', {
  type: 'object',
  additionalProperties: { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' },
})

/** What the integrations team sends as an event definition. */
export const newDefinition = () => {
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

/** An event definition, as it is answered. */
export const definitionAnswered = (): JsonSchema => {
  const { properties } = newDefinition()
  return object({ eventname: TEXT, ...properties })
}

/** An account, with what else its reader may know. */
export const account = (more: Record<string, JsonSchema>) =>
  object({
    account: said('Its id.'),
    name: said('What people call it.'),
    vertical,
    mode,
    time_zone: said('The clock of times that name no offset.'),
    policies,
    ...more,
  })

/** The members of a delivery. */
export const delivery = {
  delivery_id: ref('DeliveryId'),
  received_at: said('When it arrived.', TIME),
  resource,
  status: said('What the request was answered with.', {
    type: 'integer',
    enum: [200, 201, 207, 422],
  }),
  dry_run: said('Whether it was only judged.', FLAG),
  summary: ref('Summary'),
  errors_total: said('How many errors it had.', COUNT),
}

/** How fresh a resource is. */
export const feed = object(
  {
    resource,
    last_delivery_at: said('When anything of it last came; null: never.', orNull(TIME)),
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

/** A control total, by these groups. */
export const totalOf = (groups: Record<string, JsonSchema>) =>
  object(
    {
      day: said('The day, in UTC; of brands as sent, or in the zone of the account.', DAY),
      resource,
      ...groups,
      count: said('How many records.', COUNT),
      sums: decimals,
    },
    Object.keys(groups),
  )

/** When an older secret ends. */
export const secretUntil = said(
  'Until when the one before stays good; null: it has ended.',
  orNull(TIME),
)

/** A link. */
export const link = object({
  link_id: TEXT,
  url: said('What visitors follow.', { type: 'string', format: 'uri' }),
  affiliate_id: TEXT,
  name: orNull(TEXT),
  landing_page: { type: 'string', format: 'uri' },
  disabled: FLAG,
  created_at: TIME,
})

/** What `tracking_data` proved. */
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

/** What credentials may do. */
export const scope = said('What the credentials may do: a subset of `read write`.')

/** Who may be paid. */
export const affiliates = said('Who may be paid, as configured.', { type: 'array', items: TEXT })
