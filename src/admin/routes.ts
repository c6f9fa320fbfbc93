import { Hono } from 'hono'
import { integrationsTeam } from '../auth/admin.ts'
import type { Caller } from '../auth/authorize.ts'
import { grantOf } from '../auth/grant.ts'
import { noStore } from '../auth/oauth.ts'
import { databaseOf } from '../db/database.ts'
import { bindingsOf, findAccount, listAccounts } from '../db/directory/accounts.ts'
import { listAudit } from '../db/directory/audit.ts'
import { answerPage, PAGING, readPage } from '../http/pagination.ts'
import { invalidQuery, readQuery } from '../http/query.ts'
import type { Resource } from '../ingest/resource.ts'
import { desk } from '../reading/account-routes.ts'
import { accountOf, accounts } from './accounts.ts'
import { affiliates } from './affiliates.ts'
import { attribution } from './attribution.ts'
import { brandTokens } from './brand-tokens.ts'
import { clients } from './clients.ts'
import { erasures, replay } from './erasures.ts'
import { eventDefinitions } from './events.ts'
import { feedsOf } from './feeds.ts'
import { links } from './links.ts'
import { labels, statusMap } from './status-map.ts'

const MAX_DEPTH = 10_000

/** What the integrations team sets up, and what it may look into; each change is in the audit log. */
export const admin = (resourcesOf: (vertical: string) => readonly Resource[]) => {
  const routes = new Hono<Caller>()
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
      const admitted = accountOf(c).then((account) => grantOf(account, null, 'read'))
      admitted.catch(() => {}) // There may be no handler that waits for it.
      c.set('admitted', admitted)
      await next()
    })
  }
  routes.route(own, desk(resourcesOf))

  return routes
    .route('/erasures', replay)
    .get('/feeds', async (c) => {
      const page = await readPage(c.env, 'feeds', readQuery(c.req.url, ...PAGING))
      const found = await listAccounts(c.env.DB, page)
      const names = (vertical: string) => resourcesOf(vertical).map(({ name }) => name)
      const data = await feedsOf(c.env, found.data, names, Date.now())
      return answerPage(c, 'feeds', page, { ...found, data })
    })
    .get('/audit-log', async (c) => {
      const { account = null, ...asked } = readQuery(c.req.url, ...PAGING, 'account')
      if (account !== null && !(await findAccount(c.env.DB, account))) {
        throw invalidQuery('account names none that there is.')
      }
      const context = JSON.stringify(['audit', account])
      const page = await readPage(c.env, context, asked)
      // Pages of several logs are found by reading those before them; a cursor needs not.
      if (page.after === null && page.number * page.size > MAX_DEPTH) {
        throw invalidQuery(`page goes no deeper than ${MAX_DEPTH} lines here: use cursor.`)
      }
      const bindings = await bindingsOf(c.env.DB)
      const databases = bindings.map((binding) => databaseOf(c.env, binding))
      return answerPage(c, context, page, await listAudit(databases, account, page))
    })
}
