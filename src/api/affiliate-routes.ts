import { Hono } from 'hono'
import { caller } from '../affiliates/caller.ts'
import { OWN_OPERATIONS } from '../affiliates/operations.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { noStore } from '../platform/http/oauth.ts'
import { mountFor, weightOf } from '../platform/http/operation.ts'
import { OPERATIONS } from './operations.ts'

const BASE = '/affiliate/v1'

const AFFILIATE_OPERATIONS = [...OPERATIONS, ...OWN_OPERATIONS]

/** Returns how many requests of the limit a request counts as. */
const weightOfRequest = weightOf(AFFILIATE_OPERATIONS, BASE)

/** Routes for affiliates: what they earn and why. They are answered by the functions of the firm's own routes. */
export const affiliateApi = new Hono<AppEnv>().use(caller(weightOfRequest), noStore)
mountFor(affiliateApi, AFFILIATE_OPERATIONS, 'affiliate')
