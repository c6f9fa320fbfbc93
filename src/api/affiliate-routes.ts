import { Hono } from 'hono'
import { caller } from '../affiliates/caller.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { noStore } from '../platform/http/oauth.ts'
import { mount } from '../platform/http/operation.ts'
import { OPERATIONS } from './operations.ts'
import { OWN_OPERATIONS } from './own-operations.ts'

/** Routes for affiliates: what they earn and why. They are answered by the functions of the firm's own routes. */
export const affiliateApi = new Hono<AppEnv>().use(caller, noStore)
mount(affiliateApi, [...OPERATIONS, ...OWN_OPERATIONS], 'affiliate')
