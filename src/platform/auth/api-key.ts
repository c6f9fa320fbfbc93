import { createMiddleware } from 'hono/factory'
import { ApiError } from '../errors.ts'
import { isJwt } from './access-token.ts'
import { type AppEnv, authorize, type WeightOf } from './authorize.ts'
import { digest, isWellFormed } from './secret.ts'
import { brandTokenObjectName } from './token-gate.ts'

/**
 * Authenticates a brand by its Brand Token and applies the rate limit. A token with a wrong checksum
 * is refused without a look-up. The response does not reveal why a token is refused. `weightOf` returns how many
 * requests of the limit a path costs.
 *
 * @throws ApiError `invalid_api_key`, `rate_limited`
 */
export const apiKey = (weightOf: WeightOf) =>
  createMiddleware<AppEnv>(async function apiKey(c, next) {
    const key = c.req.header('x-api-key')
    if (key === undefined && c.req.header('Authorization')) throw invalidApiKey(WRONG_HEADER)
    if (key !== undefined && isJwt(key)) throw invalidApiKey(WRONG_CREDENTIAL)
    if (key?.startsWith('taf_')) throw invalidApiKey(AFFILIATE_KEY)
    if (key === undefined || !isWellFormed(key, 'tbt')) throw invalidApiKey(INVALID)
    const objectName = brandTokenObjectName(await digest(key))
    const unknownToken = () => invalidApiKey(INVALID)
    await authorize(
      c,
      next,
      objectName,
      weightOf(c.req.path, c.req.method),
      unknownToken,
      (grant) => grant,
    )
  })

const INVALID =
  'The Brand Token in the header `x-api-key` is missing, malformed, unknown or no longer valid.'

const WRONG_HEADER =
  'Send the Brand Token in the header `x-api-key`. The header `Authorization` is for partner firms.'

const WRONG_CREDENTIAL =
  'The header `x-api-key` contains an access token of a partner firm. Send a Brand Token, which starts with `tbt_`.'

const AFFILIATE_KEY =
  'This is the key of an affiliate. Send it as `Authorization: Bearer`, to /affiliate/v1.'

const invalidApiKey = (detail: string) =>
  new ApiError('invalid_api_key', {
    detail,
    headers: { 'WWW-Authenticate': 'ApiKey realm="tracking", header="x-api-key"' },
  })
