import { type Context, Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { type ApiError, toApiError } from '../errors.ts'
import { publicKeys, TOKEN_LIFETIME_SECONDS } from './access-token.ts'
import { OAUTH_CODE_BY_STATUS } from './oauth-codes.ts'
import { revocation } from './revocation.ts'
import { tokenEndpoint } from './token-endpoint.ts'

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

/** The routes that issue and revoke access tokens. */
export const oauth = new Hono<{ Bindings: Env }>()
  .route('/token', tokenEndpoint)
  .route('/revoke', revocation)

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
