import { documented, envelopes, meta, object, PARTS } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { FRAUD_SIMULATION_SCHEMAS } from './administration/fraud-simulation.ts'
import { SIMULATION_SCHEMAS } from './administration/simulation.ts'
import { BOOK_SCHEMAS } from './books.ts'
import { ref } from './operation.ts'
import { planAnswers } from './plan-answers.ts'
import { RATE_SCHEMAS } from './rates.ts'
import {
  AT,
  delivery,
  errorGroup,
  foundDelivery,
  jwk,
  oneOf,
  orNull,
  ownAccount,
  refusedRecord,
  scope,
  storedRecord,
  TEXT,
  totalOf,
} from './shapes.ts'
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
    ...planAnswers(),
    ...SIMULATION_SCHEMAS,
    ...FRAUD_SIMULATION_SCHEMAS,
    ...RATE_SCHEMAS,
    ...BOOK_SCHEMAS,
    ...WHY_SCHEMAS,
    ...OAUTH,
  }
}
