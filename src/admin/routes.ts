import { type Context, Hono } from 'hono'
import { integrationsTeam, roleOfPath } from '../auth/admin.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { grantOf } from '../auth/grant.ts'
import { noStore } from '../auth/oauth.ts'
import { rateImport } from '../commission/rates/routes.ts'
import { TEAM_WHY_PATHS, teamWhy, WHY_PATHS } from '../commission/why/routes.ts'
import { mount, pageOfRequest, type TeamCall } from '../http/operation.ts'
import { ACCOUNT_PATHS, accountRoutes } from '../ingest/account-routes.ts'
import type { ResourcesOf } from '../ingest/resource.ts'
import { TEAM_READING_PATHS, teamReading } from '../ingest/team-routes.ts'
import { findRouteAccount } from './accounts.ts'
import { affiliates } from './affiliates.ts'
import { fraudSimulations } from './fraud-simulations.ts'
import { OPERATIONS } from './operations.ts'
import { payoutFiles } from './payouts.ts'
import { assignments } from './plans.ts'
import { simulations } from './simulations.ts'

/** The routes that concern no account. */
const deployment = new Hono<AppEnv>().route('/fx-rates', rateImport)

/** Returns who calls. */
const teamCallOf = (c: Context<AppEnv>): TeamCall => ({
  env: c.env,
  actor: c.var.actor,
  role: c.var.role,
  accounts: c.var.accounts,
  ...pageOfRequest(c),
})

/** Adds the routes that are shared with the account's own API, which reads the account from its grant. */
function shareRoutes(routes: Hono<AppEnv>, resourcesOf: ResourcesOf): void {
  const account = '/accounts/:account'
  for (const path of Object.values({
    ...ACCOUNT_PATHS,
    ...WHY_PATHS,
    ...TEAM_WHY_PATHS,
    ...TEAM_READING_PATHS,
  })) {
    routes.use(`${account}${path}`, async (c, next) => {
      const grantPromise = findRouteAccount(c).then((row) => grantOf(row, null, 'read'))
      grantPromise.catch(() => {}) // The path may have no handler that awaits it.
      c.set('grantPromise', grantPromise)
      await next()
    })
  }
  routes.route(account, accountRoutes(resourcesOf)).route(account, teamReading(resourcesOf))
  routes.route(account, teamWhy)
}

/** Returns the routes of the administration API. Every change is in the audit log. */
export const admin = (resourcesOf: ResourcesOf) => {
  const routes = new Hono<AppEnv>()
  routes.use(integrationsTeam, noStore)
  const account = '/accounts/:account'
  // These come first, since they answer a path of an operation with CSV.
  routes.use(`${account}/payouts`, roleOfPath).route(`${account}/payouts`, payoutFiles)
  mount(routes, OPERATIONS, teamCallOf)
  routes.use(roleOfPath)
  routes
    .route(`${account}/affiliates`, affiliates)
    .route(`${account}/plans`, simulations)
    .route(`${account}/assignments`, assignments)
    .route(`${account}/fraud-rules`, fraudSimulations)

  shareRoutes(routes, resourcesOf)
  return routes.route('/', deployment)
}
