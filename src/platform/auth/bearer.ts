import { createMiddleware } from 'hono/factory'
import { ApiError, type ErrorCode } from '../errors.ts'
import { verifyAccessToken } from './access-token.ts'
import { type AppEnv, authorize } from './authorize.ts'
import type { Grant } from './grant.ts'

const CHALLENGE = 'Bearer realm="api"'

/**
 * Authenticates a partner firm by its access token, applies the rate limit, and checks the vertical
 * and the scope that the method requires.
 *
 * @see [RFC 6750 §3](https://www.rfc-editor.org/rfc/rfc6750#section-3)
 * @throws ApiError `missing_credentials`, `invalid_token`, `rate_limited`, `wrong_vertical`,
 * `insufficient_scope`
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

const RENEW =
  'The access token is malformed, expired or revoked. Get a new one from POST /oauth/token.'

const NO_TOKEN =
  'Send the header `Authorization: Bearer` with an access token from POST /oauth/token.'

function bearerToken(authorization: string | undefined): string {
  const match = /^Bearer(?: +(.*))?$/i.exec(authorization ?? '')
  if (!match) throw refusal('missing_credentials', CHALLENGE, NO_TOKEN)
  return match[1] ?? ''
}

function checkGrant(grant: Grant, vertical: string, method: string): Grant {
  if (grant.vertical !== vertical) {
    throw new ApiError('wrong_vertical', {
      detail: `This access token is for the vertical \`${grant.vertical}\`. The paths of this vertical begin with /api/v1/${grant.vertical}/.`,
    })
  }
  const scope = method === 'GET' || method === 'HEAD' ? 'read' : 'write'
  if (!grant.scope.split(' ').includes(scope)) {
    const challenge = `${CHALLENGE}, error="insufficient_scope", scope="${scope}"`
    throw refusal('insufficient_scope', challenge, `This request requires the scope \`${scope}\`.`)
  }
  return grant
}

const invalidToken = () => refusal('invalid_token', `${CHALLENGE}, error="invalid_token"`, RENEW)

const refusal = (code: ErrorCode, challenge: string, detail: string) =>
  new ApiError(code, {
    headers: { 'WWW-Authenticate': challenge },
    detail,
  })
