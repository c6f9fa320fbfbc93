import { type Context, Hono } from 'hono'
import { integrationsTeam, roleOfPath } from '../auth/admin.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { grantOf } from '../auth/grant.ts'
import { noStore } from '../auth/oauth.ts'
import { TEAM_WHY_PATHS, teamWhy, WHY_PATHS } from '../commission/why/routes.ts'
import { mount, pageOfRequest, type TeamCall } from '../http/operation.ts'
import { findRouteAccount } from './accounts.ts'
import { fraudSimulations } from './fraud-simulations.ts'
import { OPERATIONS } from './operations.ts'
import { simulations } from './simulations.ts'

/** Returns who calls. */
const teamCallOf = (c: Context<AppEnv>): TeamCall => ({
  env: c.env,
  actor: c.var.actor,
  role: c.var.role,
  accounts: c.var.accounts,
  ...pageOfRequest(c),
})

/** Adds the routes that are shared with the account's own API, which reads the account from its grant. */
function shareRoutes(routes: Hono<AppEnv>): void {
  for (const path of Object.values({
    ...WHY_PATHS,
    ...TEAM_WHY_PATHS,
  })) {
    routes.use(`${account}${path}`, async (c, next) => {
      const grantPromise = findRouteAccount(c).then((row) => grantOf(row, null, 'read'))
      grantPromise.catch(() => {}) // The path may have no handler that awaits it.
      c.set('grantPromise', grantPromise)
      await next()
    })
  }
  routes.route(account, teamWhy)
}

/** The routes of the administration API. Every change is in the audit log. */
export const admin = new Hono<AppEnv>().use(integrationsTeam, noStore)
const account = '/accounts/:account'
mount(admin, OPERATIONS, teamCallOf)
admin.use(roleOfPath)
admin.route(`${account}/plans`, simulations).route(`${account}/fraud-rules`, fraudSimulations)
shareRoutes(admin)
