import { Hono } from 'hono'
import { integrationsTeam } from '../auth/admin.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { grantOf } from '../auth/grant.ts'
import { noStore } from '../auth/oauth.ts'
import { resolveDatabase } from '../db/database.ts'
import { findAccount, listAccounts, listBindings } from '../db/directory/accounts.ts'
import { listAudit } from '../db/directory/audit.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { invalidQuery, readQuery } from '../http/query.ts'
import type { Resource } from '../ingest/resource.ts'
import { accountRoutes } from '../reading/account-routes.ts'
import { accounts, findRouteAccount } from './accounts.ts'
import { affiliates } from './affiliates.ts'
import { attribution } from './attribution.ts'
import { brandTokens } from './brand-tokens.ts'
import { clients } from './clients.ts'
import { erasureReplay, erasures } from './erasures.ts'
import { eventDefinitions } from './events.ts'
import { readFeeds } from './feeds.ts'
import { links } from './links.ts'
import { labels, statusMap } from './status-map.ts'

const MAX_DEPTH = 10_000

/** What the integrations team sets up, and what it may look into; each change is in the audit log. */
export const admin = (resourcesOf: (vertical: string) => readonly Resource[]) => {
  const routes = new Hono<AppEnv>()
  routes.use(integrationsTeam, noStore)
  const own = '/accounts/:account'
  routes
    .route('/accounts', accounts)
    .route(`${own}/clients`, clients)
    .route(`${own}/brand-tokens`, brandTokens)
    .route(`${own}/affiliates`, affiliates)
    .route(`${own}/events`, eventDefinitions)
    .route(`${own}/status-map`, statusMap)
    .route(`${own}/labels`, labels)
    .route(`${own}/links`, links)
    .route(own, attribution)
    .route(own, erasures)

  for (const path of ['deliveries/*', 'totals', 'held', 'feed']) {
    // What an account may ask about itself, its keepers may ask about it.
    routes.use(`${own}/${path}`, async (c, next) => {
      const grantPromise = findRouteAccount(c).then((account) => grantOf(account, null, 'read'))
      grantPromise.catch(() => {}) // There may be no handler that waits for it.
      c.set('grantPromise', grantPromise)
      await next()
    })
  }
  routes.route(own, accountRoutes(resourcesOf))

  return routes
    .route('/erasures', erasureReplay)
    .get('/feeds', async (c) => {
      const page = await readPage(c.env, 'feeds', readQuery(c.req.url, ...PAGE_PARAMETERS))
      const found = await listAccounts(c.env.DB, page)
      const names = (vertical: string) => resourcesOf(vertical).map(({ name }) => name)
      const data = await readFeeds(c.env, found.data, names, Date.now())
      return respondWithPage(c, 'feeds', page, { ...found, data })
    })
    .get('/audit-log', async (c) => {
      const { account = null, ...asked } = readQuery(c.req.url, ...PAGE_PARAMETERS, 'account')
      if (account !== null && !(await findAccount(c.env.DB, account))) {
        throw invalidQuery('account names none that there is.')
      }
      const context = JSON.stringify(['audit', account])
      const page = await readPage(c.env, context, asked)
      // Pages of several logs are found by reading those before them; a cursor needs not.
      if (page.after === null && page.number * page.size > MAX_DEPTH) {
        throw invalidQuery(`page goes no deeper than ${MAX_DEPTH} lines here: use cursor.`)
      }
      const bindings = await listBindings(c.env.DB)
      const databases = bindings.map((binding) => resolveDatabase(c.env, binding))
      return respondWithPage(c, context, page, await listAudit(databases, account, page))
    })
}
