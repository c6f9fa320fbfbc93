import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { routePath } from 'hono/route'
import type { AppEnv } from '../auth/authorize.ts'
import { ApiError } from '../errors.ts'
import { drainOf, startDraining } from './body.ts'

/** How long a response waits for the rest of an unread body, in milliseconds. Most arrive within this time. */
const DRAIN_WAIT_MS = 250

/**
 * Reads and discards the rest of an unread request body. If the sender is slow or sends nothing, the
 * response starts before that, and ends when the body ends. If the response ended earlier, the runtime
 * would break the connection.
 */
export async function answerEarly(c: Context): Promise<void> {
  const { raw } = c.req
  const { body } = raw
  if (body && !body.locked) startDraining(raw, body.getReader({ mode: 'byob' }))
  const draining = drainOf(raw)
  if (!draining || (await endsSoon(draining))) return
  if (!c.res.body) return draining
  const bytes = new Uint8Array(await c.res.arrayBuffer())
  const { readable, writable } = new FixedLengthStream(bytes.byteLength)
  c.executionCtx.waitUntil(sendAndWait(bytes, writable, draining))
  c.res = new Response(readable, c.res)
}

async function endsSoon(draining: Promise<void>): Promise<boolean> {
  let timer: number | null = null
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), DRAIN_WAIT_MS)
  })
  return Promise.race([draining.then(() => true), timeout]).finally(() => clearTimeout(timer))
}

/** Sends a response, and ends it with `draining`. */
async function sendAndWait(
  bytes: Uint8Array,
  writable: WritableStream<Uint8Array>,
  draining: Promise<void>,
): Promise<void> {
  const writer = writable.getWriter()
  try {
    await writer.write(bytes)
    await draining
    await writer.close()
  } catch {
    // The caller has disconnected.
  }
}

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
  await answerEarly(c)
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
