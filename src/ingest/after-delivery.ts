import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import type { DeliveryResult } from '../db/records/store-delivery.ts'
import { queueSoon } from '../webhooks/queue-due.ts'
import { releaseRest } from './release-rest.ts'
import { newThrottle } from './throttle.ts'

/** How often an isolate looks for the events of an account, in milliseconds; a cron sends the others. */
const INTERVAL_MS = 1000

const mayLook = newThrottle(INTERVAL_MS)

/**
 * Does what a stored delivery has left, after the response: releases held records, and sends
 * `delivery.refused`, which the batch has written.
 */
export function finishAfter(
  c: Context<AppEnv>,
  grant: Grant,
  { releasing, notifies }: DeliveryResult,
): void {
  if (releasing) c.executionCtx.waitUntil(releaseRest(c.env, grant))
  if (!notifies || !mayLook(grant.account, Date.now())) return
  c.executionCtx.waitUntil(queueSoon(c.env, grant.binding, grant.account))
}
