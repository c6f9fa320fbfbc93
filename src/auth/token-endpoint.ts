import { Hono } from 'hono'
import { ApiError } from '../errors.ts'
import { expiryOf, mintAccessToken, TOKEN_LIFETIME_SECONDS } from './access-token.ts'
import { authenticate, tooManyAttempts } from './authenticate.ts'
import { invalidClient, readCredentials, readForm } from './client-credentials.ts'
import { grantOf } from './grant.ts'
import { withObjectRetry } from './object-retry.ts'

const SCOPES = ['read', 'write']

/**
 * The client credentials grant.
 *
 * @see [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4)
 */
export const tokenEndpoint = new Hono<{ Bindings: Env }>().post('/', async (c) => {
  const now = Date.now()
  const form = await readForm(c.req.raw)
  const sent = readCredentials(c.req.header('Authorization'), form)
  const grantType = form.get('grant_type')
  if (!grantType) throw new ApiError('invalid_request', { detail: 'grant_type is missing.' })
  if (grantType !== 'client_credentials') {
    throw new ApiError('unsupported_grant_type', { detail: 'Send grant_type=client_credentials.' })
  }
  const scope = grantedScope(form.get('scope'))

  const { client, account } = await authenticate(c.env, c.req.raw.headers, sent, now)
  const { client_id, version } = client
  const jti = crypto.randomUUID()
  const expiresAt = expiryOf(now)
  // Listed before it opens: a token that is being ended must not open unseen.
  const listing = () => c.env.CLIENT_GATE.getByName(`client:${client_id}`)
  const minted = await withObjectRetry(() => listing().mint({ jti, version, expiresAt }))
  if (minted === null) throw invalidClient()
  const { wait, settings } = minted
  if (wait > 0) throw tooManyAttempts('60 tokens an hour are enough: a token lives for one.', wait)
  const known = grantOf(account, client_id, scope)
  // What was told meanwhile is newer than what was read before.
  const grant = settings && settings.version > known.version ? { ...known, ...settings } : known
  await withObjectRetry(() => c.env.TOKEN_GATE.getByName(jti).open(grant, expiresAt))

  return c.json({
    access_token: await mintAccessToken({ client_id, jti, scope }, c.env, now),
    token_type: 'Bearer',
    expires_in: TOKEN_LIFETIME_SECONDS,
    scope,
  })
})

/**
 * The scope that is granted: what was asked for, or all of it.
 *
 * @see [RFC 6749 §3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3)
 */
function grantedScope(asked: string | undefined): string {
  if (asked === undefined) return SCOPES.join(' ')
  const words = asked.split(' ')
  if (!words.every((word) => SCOPES.includes(word))) {
    throw new ApiError('invalid_scope', { detail: 'A scope is a subset of: read write.' })
  }
  return SCOPES.filter((word) => words.includes(word)).join(' ')
}
