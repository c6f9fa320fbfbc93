import { type Context, Hono } from 'hono'
import { integrationsTeam } from '../platform/auth/admin.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { noStore } from '../platform/http/oauth.ts'
import { mount, pageOfRequest, type TeamCall } from '../platform/http/operation.ts'
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
