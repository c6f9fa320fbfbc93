import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import type { DeliveryResult } from '../db/records/store-delivery.ts'
import { queueSoon } from '../webhooks/queue-due.ts'
import { oncePerInterval } from './once-per-interval.ts'
import { releaseRest } from './release-rest.ts'

/**
 * An isolate searches for webhook events of an account at most once in this time, in milliseconds. A cron
 * job sends the events that no search finds.
 */
const INTERVAL_MS = 1000

const maySearch = oncePerInterval(INTERVAL_MS)

/**
 * Starts the work that follows the response to a stored delivery: releases held records, and sends the
 * event `delivery.refused`, which the batch has written.
 */
export function finishAfter(
  c: Context<AppEnv>,
  grant: Grant,
  { releasing, notifies }: DeliveryResult,
): void {
  if (releasing) c.executionCtx.waitUntil(releaseRest(c.env, grant))
  if (!notifies || !maySearch(grant.account, Date.now())) return
  c.executionCtx.waitUntil(queueSoon(c.env, grant.binding, grant.account))
}
