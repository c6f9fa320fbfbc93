import { createMiddleware } from 'hono/factory'
import { routePath } from 'hono/route'
import type { AppEnv } from '../auth/authorize.ts'
import { ApiError } from '../errors.ts'

const TWO_YEARS_SECONDS = 63_072_000

const isHttps = (env: Env) => env.BASE_URL.startsWith('https:')

/**
 * Sets the headers that every response has and logs one line per request: account, route, status,
 * duration and outcomes. It never logs a body, a secret or personal data.
 */
export const requestLog = createMiddleware<AppEnv>(async function requestLog(c, next) {
  const startedAt = Date.now()
  const requestId = crypto.randomUUID()
  c.set('requestId', requestId)
  await next()
  await drain(c.req.raw)
  // Not `c.header`, which copies the finished response for each header.
  const { headers } = c.res
  headers.set('X-Request-Id', requestId)
  headers.set('X-Content-Type-Options', 'nosniff')
  if (isHttps(c.env)) {
    headers.set('Strict-Transport-Security', `max-age=${TWO_YEARS_SECONDS}; includeSubDomains`)
  }

  const grant = await c.var.grantPromise?.catch(() => null)
  // A path may name a customer: only development logs it.
  const route = isHttps(c.env) ? routePath(c, -1) : c.req.path
  console.log(
    JSON.stringify({
      request_id: requestId,
      account: grant?.account,
      method: c.req.method,
      route,
      status: c.res.status,
      ms: Date.now() - startedAt,
      ...c.var.delivery,
    }),
  )
})

/** How much of an unread body is drained: more than the platform accepts. */
const MAX_DRAINED_BYTES = 128 * 1024 * 1024

/** How long a body is drained. A caller that announces a body and sends none still gets a response. */
const MAX_DRAIN_MS = 5000

/** Drains an unread body: an unread body breaks the connection, and the caller loses the response. */
async function drain({ body }: Request) {
  if (!body || body.locked) return
  const timeout = scheduler.wait(MAX_DRAIN_MS).then(() => ({ done: true, value: undefined }))
  let bytes = 0
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  try {
    reader = body.getReader()
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), timeout])
      bytes += value?.byteLength ?? 0
      if (done || bytes > MAX_DRAINED_BYTES) return
    }
  } catch {
    // The caller has disconnected.
  } finally {
    reader?.cancel().catch(() => {})
  }
}

/**
 * Refuses plain HTTP. It never redirects, because the secret has already been sent in clear.
 *
 * @throws ApiError `https_required`
 */
export const httpsOnly = createMiddleware<AppEnv>(async function httpsOnly(c, next) {
  if (isHttps(c.env) && new URL(c.req.url).protocol === 'http:') {
    throw new ApiError('https_required', { detail: `Send the request to ${c.env.BASE_URL}.` })
  }
  await next()
})
