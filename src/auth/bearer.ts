import { createMiddleware } from 'hono/factory'
import { ApiError, type ErrorCode } from '../errors.ts'
import { verifyAccessToken } from './access-token.ts'
import { type AppEnv, authorize } from './authorize.ts'
import type { Grant } from './grant.ts'

const CHALLENGE = 'Bearer realm="api"'

/**
 * Lets a request through when its token is ours, alive, within its rate, for this vertical, and of
 * the scope that the method needs. The gate is asked while the body is read and judged; whatever
 * that finds, a refusal of the gate wins.
 *
 * @see [RFC 6750 §3](https://www.rfc-editor.org/rfc/rfc6750#section-3)
 */
export const bearer = (vertical: string) =>
  createMiddleware<AppEnv>(async function bearer(c, next) {
    const token = bearerToken(c.req.header('Authorization'))
    const claims = await verifyAccessToken(token, c.env, Date.now())
    if (!claims) throw invalidToken()

    await authorize(c, next, claims.jti, invalidToken, (grant) =>
      checkGrant(grant, vertical, c.req.method),
    )
  })

function bearerToken(header: string | undefined): string {
  const found = /^Bearer(?: +(.*))?$/i.exec(header ?? '')
  if (!found) throw refusal('missing_credentials', CHALLENGE)
  return found[1] ?? ''
}

function checkGrant(grant: Grant, vertical: string, method: string): Grant {
  if (grant.vertical !== vertical) {
    throw new ApiError('wrong_vertical', { detail: `This token is for /api/v1/${grant.vertical}.` })
  }
  const needed = method === 'GET' || method === 'HEAD' ? 'read' : 'write'
  if (!grant.scope.split(' ').includes(needed)) {
    const challenge = `${CHALLENGE}, error="insufficient_scope", scope="${needed}"`
    throw refusal('insufficient_scope', challenge)
  }
  return grant
}

const invalidToken = () => refusal('invalid_token', `${CHALLENGE}, error="invalid_token"`)

const refusal = (code: ErrorCode, challenge: string) =>
  new ApiError(code, { headers: { 'WWW-Authenticate': challenge } })
