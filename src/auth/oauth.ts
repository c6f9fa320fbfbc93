import { type Context, Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { type ApiError, toApiError } from '../errors.ts'
import { publicKeys, TOKEN_LIFETIME_SECONDS } from './access-token.ts'
import { OAUTH_CODE_BY_STATUS } from './oauth-codes.ts'
import { revocation } from './revocation.ts'
import { tokenEndpoint } from './token-endpoint.ts'

/** Answers a failure in the shape of RFC 6749: these addresses have one of their own. */
export function oauthError(thrown: unknown, c: Context) {
  const error: ApiError = toApiError(thrown, c)
  const body = {
    error: OAUTH_CODE_BY_STATUS[error.status] ?? error.code,
    error_description: error.details.detail ?? `${error.title}.`,
  }
  return c.json(body, error.status, error.details.headers)
}

/**
 * Forbids to keep any answer, a refusal included.
 *
 * @see [RFC 6749 §5.1](https://www.rfc-editor.org/rfc/rfc6749#section-5.1)
 */
export const noStore = createMiddleware(async function noStore(c, next) {
  await next()
  c.header('Cache-Control', 'no-store')
  c.header('Pragma', 'no-cache')
})

/** Where tokens are asked for and given back. */
export const oauth = new Hono<{ Bindings: Env }>()
  .route('/token', tokenEndpoint)
  .route('/revoke', revocation)

/**
 * What a client finds by itself: the authorization server's metadata, and its public keys.
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
      // Required by the RFC, and empty: there is no authorization endpoint.
      response_types_supported: [],
      token_endpoint_auth_methods_supported: methods,
      revocation_endpoint_auth_methods_supported: methods,
      scopes_supported: ['read', 'write'],
      service_documentation: at('/docs'),
    })
  })
  .get('/jwks.json', async (c) => {
    const keys = await publicKeys(c.env)
    // Only what is right may be kept.
    c.header('Cache-Control', 'public, max-age=300')
    return c.json(keys)
  })
