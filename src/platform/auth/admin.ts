import { createMiddleware } from 'hono/factory'
import { ApiError } from '../errors.ts'
import { ASSERTION_HEADER, readAssertion } from './access.ts'
import { findByKey } from './admin-keys.ts'
import type { AppEnv } from './authorize.ts'
import { isSafe, type Member } from './roles.ts'

/**
 * Authenticates the team by the key of a member, or the root key, as a Bearer token, or by a JWT of Cloudflare
 * Access. The audit log records the `actor`.
 *
 * @see [Cloudflare Access](https://developers.cloudflare.com/cloudflare-one/identity/authorization-cookie/validating-json/)
 * @throws ApiError `invalid_admin`
 */
export const integrationsTeam = createMiddleware<AppEnv>(async function integrationsTeam(c, next) {
  const member = await authenticate(c.req.raw, c.env)
  c.set('actor', member.actor)
  c.set('role', member.role)
  c.set('member', member)
  await next()
})

async function authenticate({ headers, method }: Request, env: Env): Promise<Member> {
  const [, key] = /^Bearer +(\S+)$/i.exec(headers.get('Authorization') ?? '') ?? []
  // CSRF: a file is exported by GET, which any page could otherwise make the browser of a member send.
  const isForeign = headers.get('Sec-Fetch-Site')?.endsWith('-site')
  const assertion = isForeign ? null : headers.get(ASSERTION_HEADER)
  const member = key
    ? (await findByKey(key, env))?.member
    : assertion && (await readAssertion(assertion, env))
  if (!member) {
    throw new ApiError('invalid_admin', {
      detail:
        'Send `Authorization: Bearer` with your key, which begins with `tmk_`, or sign in through Cloudflare Access.',
      headers: { 'WWW-Authenticate': 'Bearer realm="admin"' },
    })
  }
  // CSRF: Access adds the assertion to requests that any page triggers, but a page cannot send these
  // content types across origins without CORS.
  if (!key && !isSafe(method) && !needsCors(headers.get('Content-Type'))) {
    throw new ApiError('unsupported_media_type', {
      detail: 'Send `Content-Type: application/json`.',
    })
  }
  return member
}

const needsCors = (type: string | null) => /^(?:application\/json|text\/csv)\b/i.test(type ?? '')
