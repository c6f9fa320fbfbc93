import { createMiddleware } from 'hono/factory'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import { ApiError, badSecret, unavailable } from '../errors.ts'
import type { AppEnv } from './authorize.ts'
import { memoizePerSecret } from './key-cache.ts'

/** The header that Cloudflare Access adds to requests of a signed-in user. */
const ASSERTION_HEADER = 'Cf-Access-Jwt-Assertion'

/**
 * Authenticates the integrations team by the admin key as a Bearer token or by a JWT of Cloudflare
 * Access. The audit log records the `actor`.
 *
 * @see [Cloudflare Access](https://developers.cloudflare.com/cloudflare-one/identity/authorization-cookie/validating-json/)
 * @throws ApiError `invalid_admin`
 */
export const integrationsTeam = createMiddleware<AppEnv>(async function integrationsTeam(c, next) {
  const [, key] = /^Bearer +(\S+)$/i.exec(c.req.header('Authorization') ?? '') ?? []
  const assertion = c.req.header(ASSERTION_HEADER)
  const actor = key
    ? (await isAdminKey(key, c.env)) && 'admin-key'
    : assertion && (await readAssertion(assertion, c.env))
  if (!actor) {
    throw new ApiError('invalid_admin', {
      detail: 'Send the header `Authorization: Bearer` with the ADMIN_KEY of this service.',
      headers: { 'WWW-Authenticate': 'Bearer realm="admin"' },
    })
  }
  // CSRF: Access adds the assertion to requests that any page triggers, but a page cannot send these
  // content types across origins without CORS.
  if (!key && !SAFE_METHODS.has(c.req.method) && !needsCors(c.req.header('Content-Type'))) {
    throw new ApiError('unsupported_media_type', {
      detail: 'Send `Content-Type: application/json`.',
    })
  }
  c.set('actor', actor)
  await next()
})

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const needsCors = (type = '') => /^(?:application\/json|text\/csv)\b/i.test(type)

/** The least length of the admin key, in characters: nothing limits how often a key is tried. */
const MIN_KEY_LENGTH = 32

const TOO_SHORT = new Error(`The secret ADMIN_KEY has fewer than ${MIN_KEY_LENGTH} characters.`)

/** Compares digests in constant time, so that the time reveals nothing about the admin key. */
async function isAdminKey(key: string, { ADMIN_KEY }: Env): Promise<boolean> {
  // If our own key is missing or can be guessed, respond 503, not 401.
  if (!ADMIN_KEY || ADMIN_KEY.length < MIN_KEY_LENGTH) throw badSecret('ADMIN_KEY', TOO_SHORT)
  const [sent, expected] = await Promise.all([sha256(key), sha256(ADMIN_KEY)])
  return crypto.subtle.timingSafeEqual(sent, expected)
}

const sha256 = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))

/** The public keys of the Access team. jose fetches them when needed and caches them. */
const keysOf = memoizePerSecret((team: string) =>
  createRemoteJWKSet(new URL('/cdn-cgi/access/certs', team)),
)

/** The codes of jose's errors for public keys that could not be fetched. */
const KEY_FETCH_ERRORS = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'])

/**
 * Returns the user or service that an assertion names, or null if the Access team did not sign it
 * for this application.
 *
 * @throws ApiError `unavailable` if the public keys cannot be fetched.
 */
async function readAssertion(assertion: string, env: Env): Promise<string | null> {
  const { ACCESS_TEAM, ACCESS_AUD } = env
  if (!ACCESS_TEAM || !ACCESS_AUD) return null
  try {
    const { payload } = await jwtVerify<{ email?: string; common_name?: string }>(
      assertion,
      keysOf(ACCESS_TEAM),
      {
        issuer: ACCESS_TEAM,
        audience: ACCESS_AUD,
        algorithms: ['RS256'],
        requiredClaims: ['exp', 'iat'],
      },
    )
    // A service token has a `common_name` instead of an e-mail address.
    return payload.email ?? payload.common_name ?? payload.sub ?? null
  } catch (error) {
    const isInvalid = error instanceof errors.JOSEError && !KEY_FETCH_ERRORS.has(error.code)
    if (!isInvalid) throw unavailable(error)
    return null
  }
}
