import { type Context, Hono } from 'hono'
import { integrationsTeam } from '../auth/admin.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { noStore } from '../http/oauth.ts'
import { mount, pageOfRequest, type TeamCall } from '../http/operation.ts'
import { OPERATIONS } from './operations.ts'

/** Returns who calls. */
const teamCallOf = (c: Context<AppEnv>): TeamCall => ({
  env: c.env,
  actor: c.var.actor,
  role: c.var.role,
  ...pageOfRequest(c),
})

/** The routes of the administration API. Every change is in the audit log. */
export const admin = new Hono<AppEnv>().use(integrationsTeam, noStore)
mount(admin, OPERATIONS, teamCallOf)
