import { Hono } from 'hono'
import { listMappedStatuses } from '../db/directory/status-maps.ts'
import { ApiError } from '../errors.ts'
import { expiryOf, issueAccessToken, TOKEN_LIFETIME_SECONDS } from './access-token.ts'
import { authenticate, tooManyAttempts } from './authenticate.ts'
import { invalidClient, readCredentials, readForm } from './client-credentials.ts'
import { TOKENS_PER_HOUR } from './client-limits.ts'
import { grantOf } from './grant.ts'
import { withObjectRetry } from './object-retry.ts'
import { placementOf } from './placement.ts'

const SCOPES = ['read', 'write']

/**
 * Issues an access token by the client credentials grant.
 *
 * @see [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4)
 */
export const tokenEndpoint = new Hono<{ Bindings: Env }>().post('/', async (c) => {
  const now = Date.now()
  const form = await readForm(c.req.raw)
  const credentials = readCredentials(c.req.header('Authorization'), form)
  checkGrantType(form.get('grant_type'))
  const scope = grantedScope(form.get('scope'))

  const { client, account } = await authenticate(c.env, c.req.raw.headers, credentials, now)
  const { client_id, version } = client
  const placement = placementOf(account)
  const jti = crypto.randomUUID()
  const expiresAt = expiryOf(now)
  // The client's object lists the token before the token's object opens it: a revocation at the same
  // moment would otherwise miss the token.
  const clientObject = () => c.env.CLIENT_GATE.getByName(`client:${client_id}`, placement)
  const issued = await withObjectRetry(() => clientObject().mint({ jti, version, expiresAt }))
  if (issued === null) throw invalidClient()
  const { wait, settings } = issued
  if (wait > 0) throw tooManyAttempts(TOO_MANY_TOKENS, wait)
  const statuses = await listMappedStatuses(c.env.DB, account.id)
  const readGrant = grantOf(account, client_id, scope, { events: [], statuses })
  // The object may have newer settings than the database had when it was read.
  const grant =
    settings && settings.version > readGrant.version ? { ...readGrant, ...settings } : readGrant
  await withObjectRetry(() => c.env.TOKEN_GATE.getByName(jti, placement).open(grant, expiresAt))

  return c.json({
    access_token: await issueAccessToken({ client_id, jti, scope }, c.env, now),
    token_type: 'Bearer',
    expires_in: TOKEN_LIFETIME_SECONDS,
    scope,
  })
})

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
