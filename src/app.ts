import { Hono } from 'hono'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { bearer, type Caller } from './auth/bearer.ts'
import { noStore, oauth, oauthError, wellKnown } from './auth/oauth.ts'
import { ApiError, onError, onNotFound } from './errors.ts'
import { everyAnswer, httpsOnly } from './every-answer.ts'
import { desk } from './reading/desk.ts'
import { forex } from './trading/forex.ts'
import { propTrading } from './trading/prop-trading.ts'
import { resourceRoutes } from './trading/routes.ts'

/** The map of the service: every address it answers begins on this page. */
export const app = new Hono<Caller>()
app.notFound((c) =>
  isOauth(c.req.path) ? oauthError(new ApiError('not_found'), c) : onNotFound(c),
)
app.onError((thrown, c) => (isOauth(c.req.path) ? oauthError(thrown, c) : onError(thrown, c)))

app.use(everyAnswer)
app.use(httpsOnly)
app.use('/oauth/*', noStore)
app.use(
  methodNotAllowed({
    app,
    onMethodNotAllowed: (_, methods) => {
      throw new ApiError('method_not_allowed', { headers: { Allow: methods.join(', ') } })
    },
  }),
)

app.get('/healthz', (c) => c.json({ status: 'ok' }))
app.route('/.well-known', wellKnown)
app.route('/oauth', oauth)

for (const { vertical, resources } of [propTrading, forex]) {
  const at = `/api/v1/${vertical}`
  app.use(`${at}/*`, bearer(vertical))
  for (const resource of resources) app.route(`${at}/${resource.name}`, resourceRoutes(resource))
  app.route(at, desk(resources))
}

/** The RFC gives its own shape to what fails under these addresses. */
function isOauth(path: string): boolean {
  return path.startsWith('/oauth/')
}
