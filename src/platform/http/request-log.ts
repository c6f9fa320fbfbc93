import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { routePath } from 'hono/route'
import type { AppEnv } from '../auth/authorize.ts'
import { isDevelopment } from '../development.ts'
import { ApiError } from '../errors.ts'
import { drainOf, startDraining } from './body.ts'

/**
 * Reads and discards the rest of an unread request body, for at most five seconds. If the response ended earlier, the
 * runtime would break the connection.
 */
async function drainUnread({ req: { raw } }: Context): Promise<void> {
  if (raw.body && !raw.body.locked) startDraining(raw, raw.body.getReader({ mode: 'byob' }))
  await drainOf(raw)
}

const TWO_YEARS_SECONDS = 63_072_000

/**
 * Sets the headers that every response has and logs one line per request: account, route, status,
 * duration and outcomes. It never logs a body, a secret or personal data.
 */
export const requestLog = createMiddleware<AppEnv>(async function requestLog(c, next) {
  const startedAt = Date.now()
  const requestId = crypto.randomUUID()
  c.set('requestId', requestId)
  await next()
  await drainUnread(c)
  // Not `c.header`, which copies the finished response for each header.
  const { headers } = c.res
  headers.set('X-Request-Id', requestId)
  headers.set('X-Content-Type-Options', 'nosniff')
  if (!isDevelopment(c.env)) {
    headers.set('Strict-Transport-Security', `max-age=${TWO_YEARS_SECONDS}; includeSubDomains`)
  }

  // A path may name a customer: only development logs it.
  const route = isDevelopment(c.env) ? c.req.path : routePath(c, -1)
  console.log(
    JSON.stringify({
      request_id: requestId,
      account: c.var.grant?.account,
      method: c.req.method,
      route,
      status: c.res.status,
      ms: Date.now() - startedAt,
      ...c.var.delivery,
    }),
  )
})

/**
 * Refuses plain HTTP. It never redirects, because the secret has already been sent in clear.
 *
 * @throws ApiError `https_required`
 */
export const httpsOnly = createMiddleware<AppEnv>(async function httpsOnly(c, next) {
  if (!isDevelopment(c.env) && new URL(c.req.url).protocol === 'http:') {
    throw new ApiError('https_required', { detail: `Send the request to ${c.env.BASE_URL}.` })
  }
  await next()
})
