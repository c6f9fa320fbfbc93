import { createMiddleware } from 'hono/factory'
import type { Delivery } from '../db/tables.ts'
import { ApiError, type ErrorCode } from '../errors.ts'
import { verify } from './access-token.ts'
import { asked } from './gates.ts'
import { LIMIT, WINDOW_MS } from './rate.ts'
import type { Admission, Grant } from './token-gate.ts'

/** What a handler knows once a guard stands before it. */
export interface Caller {
  Bindings: Env
  Variables: {
    requestId: string
    /**
     * Whose request this is. It is the only source of the account, so nothing can be read or stored
     * before the gate has answered; what needs no account may go on meanwhile.
     */
    admitted: Promise<Grant>
    /** What was delivered, for the log. */
    delivery?: Delivery
  }
}

const CHALLENGE = 'Bearer realm="api"'

/**
 * Lets a request through when its token is ours, alive, within its rate, for this vertical, and of
 * the scope that the method needs. The gate is asked while the body is read and judged; whatever
 * that finds, a refusal of the gate wins.
 *
 * @see [RFC 6750 §3](https://www.rfc-editor.org/rfc/rfc6750#section-3)
 */
export const bearer = (vertical: string) =>
  createMiddleware<Caller>(async function bearer(c, next) {
    const token = tokenOf(c.req.header('Authorization'))
    const claims = await verify(token, c.env, Date.now())
    if (!claims) throw invalidToken()

    const answer = asked(() => c.env.TOKEN_GATE.getByName(claims.jti).admit())
    const admitted = answer.then((admission) => {
      if (!admission) throw invalidToken()
      return allowed(admission, vertical, c.req.method)
    })
    admitted.catch(() => {}) // It may be refused before anything waits for it.
    c.set('admitted', admitted)
    await next()
    await admitted.finally(async () => {
      const admission = await answer.catch(() => null)
      if (!admission) return
      c.header('RateLimit-Policy', `"token";q=${LIMIT};w=${WINDOW_MS / 1000}`)
      c.header('RateLimit', `"token";r=${admission.remaining};t=${admission.reset}`)
    })
  })

function tokenOf(header: string | undefined): string {
  const found = /^Bearer(?: +(.*))?$/i.exec(header ?? '')
  if (!found) throw refusal('missing_credentials', CHALLENGE)
  return found[1] ?? ''
}

function allowed({ grant, retryAfter }: Admission, vertical: string, method: string): Grant {
  if (retryAfter > 0) {
    throw new ApiError('rate_limited', {
      detail: `${LIMIT} requests a minute are allowed. Try again in ${retryAfter} s.`,
      headers: { 'Retry-After': String(retryAfter) },
    })
  }
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
