import { createMiddleware } from 'hono/factory'
import { routePath } from 'hono/route'
import type { AppEnv } from '../auth/authorize.ts'
import { ApiError } from '../errors.ts'

const TWO_YEARS = 63_072_000

const isHttps = (env: Env) => env.BASE_URL.startsWith('https:')

/**
 * What every answer has: an id, and one line in the log. The line says who, where, how long and
 * what became of it: no body, no secret, nothing personal.
 */
export const requestLog = createMiddleware<AppEnv>(async function everyAnswer(c, next) {
  const started = Date.now()
  const requestId = crypto.randomUUID()
  c.set('requestId', requestId)
  await next()
  await drain(c.req.raw)
  c.header('X-Request-Id', requestId)
  c.header('X-Content-Type-Options', 'nosniff')
  if (isHttps(c.env)) {
    c.header('Strict-Transport-Security', `max-age=${TWO_YEARS}; includeSubDomains`)
  }

  const grant = await c.var.grantPromise?.catch(() => null)
  console.log(
    JSON.stringify({
      request_id: requestId,
      account: grant?.account,
      method: c.req.method,
      route: routePath(c, -1),
      status: c.res.status,
      ms: Date.now() - started,
      ...c.var.delivery,
    }),
  )
})

/** What is left of a refused body is read so far: more than the platform lets through. */
const MAX_DRAINED_BYTES = 128 * 1024 * 1024

/** So long it may take: who announces a body and sends none is answered all the same. */
const MAX_DRAIN_MS = 5000

/** Reads what nobody read: a body that is answered unread breaks the connection, and the answer. */
async function drain({ body }: Request) {
  if (!body || body.locked) return
  const late = scheduler.wait(MAX_DRAIN_MS).then(() => ({ done: true, value: undefined }))
  let bytes = 0
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  try {
    reader = body.getReader()
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late])
      bytes += value?.byteLength ?? 0
      if (done || bytes > MAX_DRAINED_BYTES) return
    }
  } catch {
    // The caller has gone: nobody is left to be answered.
  } finally {
    reader?.cancel().catch(() => {})
  }
}

/** Refuses plain HTTP, never by a redirect: by then the secret has been sent in clear. */
export const httpsOnly = createMiddleware<AppEnv>(async function httpsOnly(c, next) {
  if (isHttps(c.env) && new URL(c.req.url).protocol === 'http:') {
    throw new ApiError('https_required', { detail: `Send it again, to ${c.env.BASE_URL}.` })
  }
  await next()
})
