import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../auth/authorize.ts'
import { findAccount } from '../db/directory/accounts.ts'
import { logDelayed, queueSoon } from '../webhooks/queue-due.ts'

/** The changes that write events, below the path of an account. */
const CAUSES =
  /^\/(statements\/[^/]+\/(approve|pay)|periods\/[^/]+\/approve|manual-entries|payouts)$/

/** Sends the events of a change, after the response. A cron sends what this does not. */
export const sendCaused = createMiddleware<AppEnv>(async (c, next) => {
  await next()
  const account = c.req.param('account') ?? ''
  const [, path = ''] = c.req.path.split(`/accounts/${encodeURIComponent(account)}`)
  if (c.req.method !== 'POST' || c.res.status >= 400 || !CAUSES.test(path)) return
  c.executionCtx.waitUntil(
    findAccount(c.env.DB, account)
      .then((row) => row && queueSoon(c.env, row.binding, row.id))
      .catch((error) => logDelayed(error, account)),
  )
})
