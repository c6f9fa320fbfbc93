import { createMiddleware } from 'hono/factory'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import { ApiError, unavailable } from '../errors.ts'
import type { AppEnv } from './authorize.ts'
import { memoizePerSecret } from './key-cache.ts'
import { digest } from './secret.ts'

/** The header that Cloudflare Access sets for whom it has let through. */
const ASSERTION = 'Cf-Access-Jwt-Assertion'

/**
 * Lets the integrations team through: by the admin key as a Bearer token, or by a JWT of Cloudflare
 * Access. Who it was is written in the audit log.
 *
 * @see [Cloudflare Access](https://developers.cloudflare.com/cloudflare-one/identity/authorization-cookie/validating-json/)
 */
export const integrationsTeam = createMiddleware<AppEnv>(async function integrationsTeam(c, next) {
  const [, key] = /^Bearer +(\S+)$/i.exec(c.req.header('Authorization') ?? '') ?? []
  const assertion = c.req.header(ASSERTION)
  const actor = key
    ? (await isAdminKey(key, c.env)) && 'admin-key'
    : assertion && (await readAssertion(assertion, c.env))
  if (!actor) {
    throw new ApiError('invalid_admin', { headers: { 'WWW-Authenticate': 'Bearer realm="admin"' } })
  }
  // The browser adds an assertion by itself, to the request of any page: this type it sends for none.
  if (!key && !SAFE_METHODS.has(c.req.method) && !isJson(c.req.header('Content-Type'))) {
    throw new ApiError('unsupported_media_type', { detail: 'Send Content-Type: application/json.' })
  }
  c.set('actor', actor)
  await next()
})

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const isJson = (type = '') => /^application\/json\b/i.test(type)

/** Compares digests, in constant time: how much of a guess is right must not show. */
async function isAdminKey(key: string, { ADMIN_KEY }: Env): Promise<boolean> {
  // Where there is none, nobody is known to be wrong.
  if (!ADMIN_KEY) throw unavailable(new Error('There is no ADMIN_KEY.'))
  const digests = await Promise.all([key, ADMIN_KEY].map(digest))
  const [sent, own] = digests.map((hex) => new TextEncoder().encode(hex))
  return crypto.subtle.timingSafeEqual(sent!, own!)
}

/** The team's public keys; they are fetched when they are needed, and kept for a while. */
const keysOf = memoizePerSecret((team: string) =>
  createRemoteJWKSet(new URL('/cdn-cgi/access/certs', team)),
)

/** How jose says that the keys could not be fetched, or were none. */
const KEY_FETCH_ERRORS = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'])

/** Who an assertion names, or null for any that the team did not sign for this application. */
async function readAssertion(assertion: string, env: Env): Promise<string | null> {
  const { ACCESS_TEAM, ACCESS_AUD } = env
  if (!ACCESS_TEAM || !ACCESS_AUD) return null
  try {
    const { payload } = await jwtVerify<{ email?: string }>(assertion, keysOf(ACCESS_TEAM), {
      issuer: ACCESS_TEAM,
      audience: ACCESS_AUD,
      algorithms: ['RS256'],
      requiredClaims: ['exp', 'iat'],
    })
    // A service token has no e-mail address, and its name as `common_name`.
    return payload.email ?? (payload.common_name as string | undefined) ?? payload.sub ?? null
  } catch (error) {
    // Where the team's keys cannot be fetched, nobody is let in, and nobody is told to be wrong.
    const isRead = error instanceof errors.JOSEError && !KEY_FETCH_ERRORS.has(error.code)
    if (!isRead) throw unavailable(error)
    return null
  }
}
