import { type Context, Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as v from 'valibot'
import {
  expiryOf,
  issueAccessToken,
  publicKeys,
  TOKEN_LIFETIME_SECONDS,
  verifyAccessToken,
} from '../auth/access-token.ts'
import { clientAddress } from '../auth/address.ts'
import type { AppEnv } from '../auth/authorize.ts'
import {
  type Credentials,
  invalidClient,
  readCredentials,
  readForm,
} from '../auth/client-credentials.ts'
import { SECRET_LIMITS, TOKENS_PER_HOUR } from '../auth/client-limits.ts'
import { grantOf } from '../auth/grant.ts'
import { OAUTH_CODE_BY_STATUS } from '../auth/oauth-codes.ts'
import { withObjectRetry } from '../auth/object-retry.ts'
import { digest, isWellFormed } from '../auth/secret.ts'
import type { clients } from '../db/schema.ts'
import { findClient } from '../directory/credentials.ts'
import { listMappedStatuses } from '../directory/status-maps.ts'
import { ApiError, toApiError } from '../errors.ts'
import { component, described } from '../validation/described.ts'
import { member, optional } from '../validation/fields.ts'
import { operation } from './operation.ts'

/** Returns a 429 of the OAuth endpoints; `seconds` is when to retry. */
const tooManyAttempts = (detail: string, seconds: number) =>
  new ApiError('temporarily_unavailable', {
    detail: `${detail} Retry after ${seconds} seconds.`,
    headers: { 'Retry-After': String(seconds) },
  })

/**
 * Returns the client with these credentials, and its account. `now` is in milliseconds.
 *
 * Wrong secrets are counted per address, and per client at that address, so that an attacker cannot
 * lock a client out from elsewhere. An unknown client gets the same response as a wrong secret, so
 * that nobody can find out which clients exist.
 *
 * @throws ApiError `invalid_client`, or `temporarily_unavailable` after too many wrong secrets.
 */
export async function authenticate(
  env: Env,
  headers: Headers,
  credentials: Credentials,
  now: number,
) {
  const { client_id, client_secret } = credentials
  const addressObject = () => env.CLIENT_GATE.getByName(`address:${clientAddress(headers)}`)
  const [client, secret] = await Promise.all([digest(client_id), digest(client_secret)])
  // Check the address before the database is queried.
  const wait = await withObjectRetry(() => addressObject().attempt(SECRET_LIMITS, client, false))
  if (wait > 0) throw tooManyAttempts('Too many wrong secrets.', wait)
  const match = isWellFormed(client_secret, 'tcs') ? await findClient(env.DB, client_id) : null
  if (match && isValidSecret(match, secret, now) && !match.account.disabled) return match

  const waitNow = await withObjectRetry(() => addressObject().attempt(SECRET_LIMITS, client, true))
  throw waitNow > 0 ? tooManyAttempts('Too many wrong secrets.', waitNow) : invalidClient()
}

type Secrets = Pick<
  typeof clients.$inferSelect,
  'secret_digest' | 'previous_digest' | 'previous_ends_at' | 'revoked'
>

// A plain comparison is safe: both are digests of 256 random bits, so its time reveals nothing.
const isValidSecret = ({ client }: { client: Secrets }, secret: string, now: number) =>
  !client.revoked &&
  (client.secret_digest === secret ||
    (client.previous_digest === secret && now < (client.previous_ends_at ?? 0)))

const SCOPES = ['read', 'write']

/**
 * Issues an access token by the client credentials grant.
 *
 * @see [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4)
 */
async function issueToken(c: Context<AppEnv>): Promise<Response> {
  const now = Date.now()
  const form = await readForm(c.req.raw)
  const credentials = readCredentials(c.req.header('Authorization'), form)
  checkGrantType(form.get('grant_type'))
  const scope = grantedScope(form.get('scope'))

  const { client, account } = await authenticate(c.env, c.req.raw.headers, credentials, now)
  const { client_id, version } = client
  const jti = crypto.randomUUID()
  const expiresAt = expiryOf(now)
  // The client's object lists the token before the token's object opens it: a revocation at the same
  // moment would otherwise miss the token.
  const clientObject = () => c.env.CLIENT_GATE.getByName(`client:${client_id}`)
  const issued = await withObjectRetry(() => clientObject().mint({ jti, version, expiresAt }))
  if (issued === null) throw invalidClient()
  const { wait, settings } = issued
  if (wait > 0) throw tooManyAttempts(TOO_MANY_TOKENS, wait)
  const statuses = await listMappedStatuses(c.env.DB, account.id)
  const readGrant = grantOf(account, client_id, scope, { events: [], statuses })
  // The object may have newer settings than the database had when it was read.
  const grant =
    settings && settings.version > readGrant.version ? { ...readGrant, ...settings } : readGrant
  await withObjectRetry(() => c.env.TOKEN_GATE.getByName(jti).open(grant, expiresAt))

  return c.json({
    access_token: await issueAccessToken({ client_id, jti, scope }, c.env, now),
    token_type: 'Bearer',
    expires_in: TOKEN_LIFETIME_SECONDS,
    scope,
  })
}

const TOO_MANY_TOKENS = `A client can get ${TOKENS_PER_HOUR} tokens per hour. Reuse each token until it expires, after an hour.`

function checkGrantType(grantType: string | undefined): void {
  if (!grantType) {
    throw new ApiError('invalid_request', { detail: 'The parameter `grant_type` is missing.' })
  }
  if (grantType !== 'client_credentials') {
    throw new ApiError('unsupported_grant_type', {
      detail: 'Send `grant_type=client_credentials`.',
    })
  }
}

/**
 * Returns the scope to grant: the requested one, or `read write` if none is requested.
 *
 * @see [RFC 6749 §3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3)
 * @throws ApiError `invalid_scope`
 */
function grantedScope(requested: string | undefined): string {
  if (requested === undefined) return SCOPES.join(' ')
  const scopes = requested.split(' ')
  if (!scopes.every((scope) => SCOPES.includes(scope))) {
    throw new ApiError('invalid_scope', { detail: 'Send `read`, `write` or `read write`.' })
  }
  return SCOPES.filter((scope) => scopes.includes(scope)).join(' ')
}

/**
 * Revokes one of the client's own tokens. An invalid or expired token is not an error, because the
 * token is unusable already.
 *
 * @see [RFC 7009 §2](https://www.rfc-editor.org/rfc/rfc7009#section-2)
 */
async function revokeToken(c: Context<AppEnv>): Promise<Response> {
  const now = Date.now()
  const form = await readForm(c.req.raw)
  const credentials = readCredentials(c.req.header('Authorization'), form)
  const token = form.get('token')
  if (!token) throw new ApiError('invalid_request', { detail: 'The parameter `token` is missing.' })

  const { client } = await authenticate(c.env, c.req.raw.headers, credentials, now)
  const claims = await verifyAccessToken(token, c.env, now)
  if (!claims) return c.body(null, 200)
  if (claims.client_id !== client.client_id) {
    throw new ApiError('invalid_request', { detail: 'The token was issued to another client.' })
  }
  const { client_id, jti } = claims
  await withObjectRetry(() => c.env.TOKEN_GATE.getByName(jti).end())
  await withObjectRetry(() => c.env.CLIENT_GATE.getByName(`client:${client_id}`).recordEnded([jti]))
  return c.body(null, 200)
}

/** Responds to an error in the format of RFC 6749 §5.2, which the OAuth endpoints use. */
export function oauthError(thrown: unknown, c: Context) {
  const error: ApiError = toApiError(thrown, c)
  const body = {
    error: OAUTH_CODE_BY_STATUS[error.status] ?? error.code,
    error_description: error.details.detail ?? `${error.title}.`,
  }
  return c.json(body, error.status, error.details.headers)
}

/**
 * Forbids caching of every response, errors included.
 *
 * @see [RFC 6749 §5.1](https://www.rfc-editor.org/rfc/rfc6749#section-5.1)
 */
export const noStore = createMiddleware(async function noStore(c, next) {
  await next()
  c.header('Cache-Control', 'no-store')
  c.header('Pragma', 'no-cache')
})

const CREDENTIALS = described(() => ({
  client_id: optional(v.string(), 'The client id. Omit it if you send `Authorization: Basic`.'),
  client_secret: optional(
    v.string(),
    'The client secret. Omit it if you send `Authorization: Basic`.',
  ),
}))

const FORM_ERRORS = described(
  () =>
    [
      'invalid_request',
      'invalid_client',
      'https_required',
      'payload_too_large',
      'temporarily_unavailable',
      'internal_error',
      'unavailable',
    ] as const,
)

/** The operations that issue and revoke access tokens. Their bodies are forms. */
export const TOKEN_OPERATIONS = [
  operation({
    of: 'team',
    id: 'getToken',
    topic: 'tokens',
    method: 'POST',
    path: '/oauth/token',
    callers: ['anyone'],
    body: described(() => ({
      grant_type: member(v.literal('client_credentials'), 'The only supported grant type.'),
      scope: optional(
        v.picklist(['read', 'write', 'read write', 'write read']),
        'The scopes to grant. Defaults to both.',
      ),
      ...CREDENTIALS,
    })),
    words: described(() => ({
      description:
        'Issues an access token with the client credentials grant (RFC 6749 §4.4). A token is valid for one hour: reuse it instead of requesting one for each call.',
      answer: component('AccessToken', () => ({
        access_token: member(v.string(), 'A JWT (RFC 9068).'),
        token_type: v.literal('Bearer'),
        expires_in: member(v.literal(TOKEN_LIFETIME_SECONDS), 'The lifetime in seconds.'),
        scope: member(v.string(), 'The granted scopes: a subset of `read write`.'),
      })),
      errors: [...FORM_ERRORS, 'invalid_scope', 'unsupported_grant_type'],
    })),
    handle: issueToken,
  }),
  operation({
    of: 'team',
    id: 'revokeToken',
    topic: 'tokens',
    method: 'POST',
    path: '/oauth/revoke',
    callers: ['anyone'],
    body: described(() => ({
      token: member(v.string(), 'The access token to revoke.'),
      ...CREDENTIALS,
    })),
    status: 200,
    words: described(() => ({
      description:
        'Revokes one of your own access tokens before it expires (RFC 7009). The response is the same if the token is invalid or has already expired.',
      answer: null,
      errors: FORM_ERRORS,
    })),
    handle: revokeToken,
  }),
]

/**
 * The routes for discovery: the authorization server's metadata and its public keys.
 *
 * @see [RFC 8414 §2](https://www.rfc-editor.org/rfc/rfc8414#section-2)
 */
export const wellKnown = new Hono<{ Bindings: Env }>()
  .get('/oauth-authorization-server', (c) => {
    const at = (path: string) => new URL(path, c.env.BASE_URL).href
    const methods = ['client_secret_basic', 'client_secret_post']
    c.header('Cache-Control', `public, max-age=${TOKEN_LIFETIME_SECONDS}`)
    return c.json({
      issuer: c.env.BASE_URL,
      token_endpoint: at('/oauth/token'),
      revocation_endpoint: at('/oauth/revoke'),
      jwks_uri: at('/.well-known/jwks.json'),
      grant_types_supported: ['client_credentials'],
      // RFC 8414 requires this member. It is empty because there is no authorization endpoint.
      response_types_supported: [],
      token_endpoint_auth_methods_supported: methods,
      revocation_endpoint_auth_methods_supported: methods,
      scopes_supported: ['read', 'write'],
      service_documentation: at('/docs'),
    })
  })
  .get('/jwks.json', async (c) => {
    const keys = await publicKeys(c.env)
    // Set after the keys are read, so that an error is not cached.
    c.header('Cache-Control', 'public, max-age=300')
    return c.json(keys)
  })
