import { type ErrorHandler, Hono } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { getPath } from 'hono/utils/url'
import { admin } from './api/admin-routes.ts'
import { affiliateApi } from './api/affiliate-routes.ts'
import { OPERATIONS } from './api/operations.ts'
import { go } from './attribution/go.ts'
import { visitorError } from './attribution/visitor-page.ts'
import { igaming } from './ingest/brand/igaming.ts'
import { recordOperations } from './ingest/record-operations.ts'
import { forex } from './ingest/trading/forex.ts'
import { propTrading } from './ingest/trading/prop-trading.ts'
import { apiKey } from './platform/auth/api-key.ts'
import type { AppEnv } from './platform/auth/authorize.ts'
import { bearer } from './platform/auth/bearer.ts'
import { documents, notFound as missingDocument } from './platform/documents/documents.ts'
import { ApiError, onError } from './platform/errors.ts'
import { noStore, oauthError, TOKEN_OPERATIONS, wellKnown } from './platform/http/oauth.ts'
import { mount } from './platform/http/operation.ts'
import { httpsOnly, requestLog } from './platform/http/request-log.ts'

const NO_ENDPOINT = 'No endpoint has this path. GET /openapi.json lists all.'

/** The paths of programs, which never get a page. */
const OF_PROGRAMS = /^\/(?:api|tracking|affiliate|admin|oauth|\.well-known|go)(?:\/|$)/

/** The application: every route of the service but those of `/console`, which `index.ts` adds. */
export const app = new Hono<AppEnv>({ getPath: routedPath })
app.notFound((c) => {
  const error = new ApiError('not_found', { detail: NO_ENDPOINT })
  const page = OF_PROGRAMS.test(c.req.path) ? Promise.reject(error) : missingDocument(c, error)
  return page.catch((thrown) => errorHandler(c.req.path)(thrown, c))
})
app.onError((thrown, c) => errorHandler(c.req.path)(thrown, c))

app.use(requestLog)
app.use(httpsOnly)
app.use('/oauth/*', noStore)
app.use(
  methodNotAllowed({
    app,
    onMethodNotAllowed: (_, methods) => {
      const Allow = methods.join(', ')
      throw new ApiError('method_not_allowed', {
        detail: `This endpoint supports ${Allow}.`,
        headers: { Allow },
      })
    },
  }),
)

app.get('/healthz', (c) => c.json({ status: 'ok' }))
app.route('/.well-known', wellKnown)
for (const { path, handle } of TOKEN_OPERATIONS) if (handle) app.post(path, (c) => handle(c, {}))

for (const api of [propTrading, forex]) {
  const base = `/api/v1/${api.vertical}`
  app.use(`${base}/*`, bearer(api.vertical))
  app.route(base, operationsOf(api))
}

app.use('/tracking/events/*', apiKey)
app.route('/tracking/events', operationsOf(igaming))

app.route('/affiliate/v1', affiliateApi)

app.route('/', documents)
app.route('/go', go)
app.route('/admin/v1', admin)

/** Returns the routes of what the accounts of a vertical do for themselves. */
function operationsOf(vertical: Parameters<typeof recordOperations>[0]) {
  const routes = new Hono<AppEnv>()
  mount(routes, [...recordOperations(vertical), ...OPERATIONS], 'account')
  return routes
}

/** Returns the error format of a path: OAuth has its own (RFC 6749 §5.2), and visitors get a page. */
function errorHandler(path: string): ErrorHandler {
  if (path.startsWith('/oauth/')) return oauthError
  return path.startsWith('/go/') ? visitorError : onError
}

/**
 * Returns the path that routes are matched with. Tools that publish links add a slash to some of them,
 * which is left out.
 */
function routedPath(request: Request): string {
  return getPath(request).replace(/^(\/go\/[^/]+)\/$/, '$1')
}
