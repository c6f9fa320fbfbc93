import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Account } from '../db/schema.ts'
import { queueSoon } from '../webhooks/causes.ts'

/**
 * Sends the webhook events that a change of an account has caused, after the response. A cron job sends
 * those that this does not.
 */
export const sendCaused = (c: Context<AppEnv>, { id, binding }: Pick<Account, 'id' | 'binding'>) =>
  c.executionCtx.waitUntil(queueSoon(c.env, binding, id))
