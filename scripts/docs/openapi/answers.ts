import { ROLES } from '../../../src/auth/roles.ts'
import { documented, envelopes, meta, object, PARTS } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { ARCHIVE_SCHEMAS } from './administration/archives.ts'
import { FRAUD_SIMULATION_SCHEMAS } from './administration/fraud-simulation.ts'
import { MOVE_SCHEMAS } from './administration/moves.ts'
import { SIMULATION_SCHEMAS } from './administration/simulation.ts'
import { BOOK_SCHEMAS } from './books.ts'
import { CASE_SCHEMAS } from './cases.ts'
import { EXPORT_SCHEMAS } from './exports.ts'
import { ref } from './operation.ts'
import { planAnswers } from './plan-answers.ts'
import { POSTBACK_SCHEMAS } from './postbacks.ts'
import { RATE_SCHEMAS } from './rates.ts'
import { REPORT_SCHEMAS } from './reports.ts'
import {
  AT,
  COUNT,
  DAY,
  delivery,
  errorGroup,
  FLAG,
  feed,
  foundDelivery,
  jwk,
  oneOf,
  orNull,
  ownAccount,
  refusedRecord,
  scope,
  storedRecord,
  TEXT,
  TIME,
  totalOf,
  verdict,
  vertical,
} from './shapes.ts'
import { STATEMENT_SCHEMAS } from './statements.ts'
import { WHY_SCHEMAS } from './why-schemas.ts'

// The schemas of responses other than records.

const ACCOUNTS: Record<string, JsonSchema> = {
  PartnerSelf: ownAccount({
    client_id: documented('The OAuth client of the access token.'),
  }),
  BrandSelf: ownAccount({
    events: documented('The event definitions.', { type: 'array', items: ref('EventDefinition') }),
  }),
}

const MONITORING: Record<string, JsonSchema> = {
  Delivery: object(delivery),
  FoundDelivery: foundDelivery,
  StoredRecord: storedRecord,
  RefusedRecord: refusedRecord,
  DeliveryInFull: object(
    {
      ...delivery,
      errors: documented('The first 100 errors, at most 64 KiB. Messages do not quote values.', {
        type: 'array',
        items: ref('BrokenRule'),
      }),
      error_groups: documented(
        'All errors that the log keeps, grouped by code and place: at most 100 groups, the largest first.',
        { type: 'array', items: errorGroup },
      ),
      errors_not_kept: documented(
        'Present if the log of that day (UTC) had no room for the errors. The response had them.',
        { const: true },
      ),
    },
    ['errors_not_kept'],
  ),
  PartnerTotal: totalOf({
    transaction_type: documented('The type of the transactions.'),
    status: documented('The status of the transactions, as sent.'),
    currency: documented('The currency of the transactions or of the trading activity.'),
  }),
  BrandTotal: totalOf({
    eventname: documented('The name of the event.'),
    product: documented('The product line. Null if the activities have none.', orNull(TEXT)),
    Currency: documented('The currency. Null if the activities have none.', orNull(TEXT)),
  }),
  Feed: feed,
  FeedOfAccount: object({
    account: documented('The id of the account.'),
    name: documented('The display name of the account.'),
    vertical,
    feeds: documented('One entry for each resource.', { type: 'array', items: ref('Feed') }),
  }),
  Database: object({
    binding: documented('The name of its binding.'),
    jurisdiction: documented(
      'Where its data stays, which the name of the binding has. Null if it is not restricted.',
      orNull(TEXT),
    ),
    accounts: documented('The number of accounts whose records it has.', COUNT),
    bytes: documented(
      'Its size, measured every 10 minutes. Null before the first measurement.',
      orNull(COUNT),
    ),
    growth_bytes: documented(
      'By how much it grew in `growth_days`. Null before it was measured for seven days.',
      orNull({ type: 'integer' }),
    ),
    growth_days: documented('The days of which the growth is known, at most 30.', orNull(COUNT)),
    full_on: documented(
      'The day (UTC) on which it reaches 5 GB if it goes on growing so. Null if none is in sight.',
      orNull(TEXT),
    ),
    forecast: documented(
      '`no_history`: it was not measured for seven days, so nothing is known. `steady`: it does not reach 5 GB within ten years. `growing`: on `full_on`. `full`: it has 5 GB.',
      { enum: ['no_history', 'steady', 'growing', 'full'] },
    ),
  }),
  DatabasePool: object({
    jurisdiction: documented(
      'The jurisdiction. Null for databases that are not restricted.',
      orNull(TEXT),
    ),
    databases: documented(
      'The number of its databases that take new accounts: `DB` only while there is no other one.',
      COUNT,
    ),
    full_on: documented(
      'The day (UTC) on which the last of them reaches 5 GB. Null if none is in sight.',
      orNull(TEXT),
    ),
    is_filling: documented('Whether that day is within 30 days.', FLAG),
  }),
}

const ATTRIBUTION: Record<string, JsonSchema> = {
  Erasure: object({
    customer_id: TEXT,
    erased_at: TIME,
    complete: documented(
      'Whether all stored data is erased. False while activities of the customer remain, which the service erases within minutes.',
      FLAG,
    ),
  }),
  Attributed: object({
    customer_id: documented('The id of the customer.'),
    day: documented('The day of the registration.', DAY),
    attribution: object({
      verdict,
      link_id: documented('The link that the customer followed.', orNull(TEXT)),
      affiliate_id: documented('The affiliate that is paid. Null if none is.', orNull(TEXT)),
      affiliate_configured: documented('Whether that affiliate is configured.', FLAG),
    }),
  }),
  Attribution: object({ day: DAY, verdict, link_id: orNull(TEXT), customers: COUNT }),
  Clicks: object({ day: DAY, link_id: TEXT, clicks: COUNT }),
  Audited: object({
    id: TEXT,
    at: documented('When the action happened.', TIME),
    actor: documented('Who acted.'),
    role: documented(
      'The role that the actor has now, by `ADMIN_KEYS` or by name in `ACCESS_ROLES`. Null if there is none, such as that of `cron`.',
      { enum: [...ROLES, null] },
    ),
    action: documented('The action, such as `customer.erase`.'),
    account: documented('The account. Null if the action concerns several.', orNull(TEXT)),
    details: documented('Details that depend on the action. They contain no secrets.', {
      type: 'object',
    }),
  }),
}

const OAUTH: Record<string, JsonSchema> = {
  AccessToken: object({
    access_token: documented('A JWT (RFC 9068).'),
    token_type: { const: 'Bearer' },
    expires_in: documented('The lifetime in seconds.', { type: 'integer', const: 3600 }),
    scope,
  }),
  OAuthError: object({
    error: documented(
      'The error code of RFC 6749 §5.2.',
      oneOf(
        'invalid_request',
        'invalid_client',
        'invalid_scope',
        'unsupported_grant_type',
        'temporarily_unavailable',
        'server_error',
      ),
    ),
    error_description: documented('A description of this error.'),
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

/** Returns the schemas of all responses other than records, by the names of their components. */
export const answerSchemas = (): Record<string, JsonSchema> => {
  const { result = {}, problem = {} } = envelopes(AT)
  return {
    ...Object.fromEntries(
      Object.entries(PARTS).map(([name, { title: _, ...schema }]) => [name, schema]),
    ),
    Result: result,
    Problem: problem,
    Meta: meta(),
    ...ACCOUNTS,
    ...MONITORING,
    ...ARCHIVE_SCHEMAS,
    ...MOVE_SCHEMAS,
    ...ATTRIBUTION,
    ...planAnswers(),
    ...SIMULATION_SCHEMAS,
    ...FRAUD_SIMULATION_SCHEMAS,
    ...RATE_SCHEMAS,
    ...STATEMENT_SCHEMAS,
    ...CASE_SCHEMAS,
    ...EXPORT_SCHEMAS,
    ...BOOK_SCHEMAS,
    ...WHY_SCHEMAS,
    ...REPORT_SCHEMAS,
    ...POSTBACK_SCHEMAS,
    ...OAUTH,
  }
}
