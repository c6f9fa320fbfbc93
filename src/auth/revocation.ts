import { Hono } from 'hono'
import { ApiError } from '../errors.ts'
import { verifyAccessToken } from './access-token.ts'
import { authenticate } from './authenticate.ts'
import { readCredentials, readForm } from './client-credentials.ts'
import { withObjectRetry } from './object-retry.ts'

/**
 * Revokes one of the client's own tokens. An invalid or expired token is not an error, because the
 * token is unusable already.
 *
 * @see [RFC 7009 §2](https://www.rfc-editor.org/rfc/rfc7009#section-2)
 */
export const revocation = new Hono<{ Bindings: Env }>().post('/', async (c) => {
  const now = Date.now()
  const form = await readForm(c.req.raw)
  const credentials = readCredentials(c.req.header('Authorization'), form)
  const token = form.get('token')
  if (!token) throw new ApiError('invalid_request', { detail: 'The parameter `token` is missing.' })

  const { client } = await authenticate(c.env, c.req.raw.headers, credentials, now)
  const claims = await verifyAccessToken(token, c.env, now)
  if (!claims) return c.body(null, 200)
  if (claims.client_id !== client.client_id) {
    throw new ApiError('invalid_request', { detail: 'The token was issued to another client.' })
  }
  const { client_id, jti } = claims
  await withObjectRetry(() => c.env.TOKEN_GATE.getByName(jti).end())
  await withObjectRetry(() => c.env.CLIENT_GATE.getByName(`client:${client_id}`).recordEnded([jti]))
  return c.body(null, 200)
})
