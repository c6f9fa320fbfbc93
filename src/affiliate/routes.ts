import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { noStore } from '../auth/oauth.ts'
import { whyWeight } from '../commission/why/weight.ts'
import { reportWeight } from '../reports/routes.ts'
import { caller } from './caller.ts'
import { respondWithMe } from './me.ts'

const BASE = '/affiliate/v1'

/** Returns how many requests of the limit a request to a path counts as. */
const weightOf = (path: string): number => {
  const below = path.slice(BASE.length)
  return whyWeight(below) ?? reportWeight(below) ?? 1
}

/** Routes for affiliates: what they earn and why. They are answered by the functions of the firm's own routes. */
export const affiliateApi = new Hono<AppEnv>()
  .use(caller(weightOf), noStore)
  .get('/me', respondWithMe)
