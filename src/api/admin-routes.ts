import { Hono } from 'hono'
import { integrationsTeam } from '../platform/auth/admin.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { noStore } from '../platform/http/oauth.ts'
import { mount } from '../platform/http/operation.ts'
import { OPERATIONS } from './operations.ts'

/** The routes of the administration API. Every change is in the audit log. */
export const admin = new Hono<AppEnv>().use(integrationsTeam, noStore)
mount(admin, OPERATIONS, 'team')
