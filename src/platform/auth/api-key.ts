import { createMiddleware } from 'hono/factory'
import { ApiError } from '../errors.ts'
import { type AppEnv, authorize } from './authorize.ts'
import { digest, isWellFormed } from './secret.ts'
import { brandTokenObjectName } from './token-gate.ts'

/**
 * Authenticates a brand by its Brand Token and applies the rate limit. A token with a wrong checksum
 * is refused without a look-up. The response does not reveal why a token is refused.
 *
 * @throws ApiError `invalid_api_key`, `rate_limited`
 */
export const apiKey = createMiddleware<AppEnv>(async function apiKey(c, next) {
  const key = c.req.header('x-api-key') ?? ''
  if (!isWellFormed(key, 'tbt')) throw invalidApiKey()
  await authorize(c, next, brandTokenObjectName(await digest(key)), invalidApiKey, (grant) => grant)
})

const invalidApiKey = () =>
  new ApiError('invalid_api_key', {
    detail:
      'The Brand Token in the header `x-api-key` is missing, malformed, unknown or no longer valid. It begins with `tbt_`.',
    headers: { 'WWW-Authenticate': 'ApiKey realm="tracking", header="x-api-key"' },
  })
