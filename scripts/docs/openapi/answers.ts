import { envelopes, meta, object, PARTS } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { ref } from './operation.ts'
import {
  AT,
  account,
  affiliates,
  COUNT,
  DAY,
  definitionAnswered,
  delivery,
  FLAG,
  feed,
  jwk,
  link,
  oneOf,
  orNull,
  said,
  scope,
  secretUntil,
  TEXT,
  TIME,
  takes_effect,
  totalOf,
  verdict,
  vertical,
} from './shapes.ts'

// The shapes of answers that are no records.

const ANSWERS: Record<string, JsonSchema> = {
  Account: account({ binding: TEXT, disabled: FLAG, created_at: TIME }),
  ChangedAccount: account({ binding: TEXT, disabled: FLAG, created_at: TIME, takes_effect }),
  PartnerSelf: account({
    client_id: TEXT,
    scope: TEXT,
    affiliates: { type: 'array', items: TEXT },
  }),
  BrandSelf: account({
    scope,
    affiliates,
    events: said('How events are read.', { type: 'array', items: ref('EventDefinition') }),
  }),
  Delivery: object(delivery),
  DeliveryInFull: object({
    ...delivery,
    errors: said('The first 100, of at most 64 KiB.', { type: 'array', items: ref('BrokenRule') }),
  }),
  PartnerTotal: totalOf({
    transaction_type: said('Of transactions.'),
    status: said('Of transactions, as sent.'),
    currency: said('Of transactions and trading activity.'),
  }),
  BrandTotal: totalOf({
    eventname: said('Of activities.'),
    product: said('Of activities; null: none was said.', orNull(TEXT)),
    Currency: said('Of activities; null: none was said.', orNull(TEXT)),
  }),
  Feed: feed,
  FeedOfAccount: object({
    account: TEXT,
    name: TEXT,
    vertical,
    feeds: { type: 'array', items: ref('Feed') },
  }),
  EventDefinition: definitionAnswered(),
  ChangedEventDefinition: object({ ...(definitionAnswered().properties as object), takes_effect }),
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
    scope,
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
