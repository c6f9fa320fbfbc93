import { createMiddleware } from 'hono/factory'
import { ApiError } from '../errors.ts'
import { type AppEnv, authorize } from './authorize.ts'
import { digest, isWellFormed } from './secret.ts'
import { brandTokenObjectName } from './token-gate.ts'

/**
 * Lets a request through when its Brand Token is ours, alive and within its rate. A typing error is
 * refused without any lookup; why a token is refused, nobody learns.
 */
export const apiKey = createMiddleware<AppEnv>(async function apiKey(c, next) {
  const key = c.req.header('x-api-key') ?? ''
  if (!isWellFormed(key, 'tbt')) throw invalidApiKey()
  await authorize(c, next, brandTokenObjectName(await digest(key)), invalidApiKey, (grant) => grant)
})

const invalidApiKey = () =>
  new ApiError('invalid_api_key', {
    detail: 'The Brand Token in the header x-api-key is missing, mistyped, unknown or ended.',
    headers: { 'WWW-Authenticate': 'ApiKey realm="tracking", header="x-api-key"' },
  })
