import { Hono } from 'hono'
import { ApiError } from '../errors.ts'
import { verifyAccessToken } from './access-token.ts'
import { authenticate } from './authenticate.ts'
import { readCredentials, readForm } from './client-credentials.ts'
import { withObjectRetry } from './object-retry.ts'

/**
 * Ends one of the client's own tokens. A token that is none, or no longer one, is no error: what
 * the client wants is true already.
 *
 * @see [RFC 7009 §2](https://www.rfc-editor.org/rfc/rfc7009#section-2)
 */
export const revocation = new Hono<{ Bindings: Env }>().post('/', async (c) => {
  const now = Date.now()
  const form = await readForm(c.req.raw)
  const sent = readCredentials(c.req.header('Authorization'), form)
  const token = form.get('token')
  if (!token) throw new ApiError('invalid_request', { detail: 'token is missing.' })

  const { client } = await authenticate(c.env, c.req.raw.headers, sent, now)
  const claims = await verifyAccessToken(token, c.env, now)
  if (!claims) return c.body(null, 200)
  if (claims.client_id !== client.client_id) {
    throw new ApiError('invalid_request', { detail: 'The token belongs to another client.' })
  }
  await withObjectRetry(() => c.env.TOKEN_GATE.getByName(claims.jti).end())
  return c.body(null, 200)
})
