import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import type { DeliveryResult } from '../db/records/store-delivery.ts'
import { errorName } from '../errors.ts'

/**
 * Starts the work that follows the response to a stored delivery: releases the held records that its batch
 * did not release, and sends the event `delivery.refused`, which the batch has written.
 */
export function finishAfter(
  c: Context<AppEnv>,
  grant: Grant,
  { releasing, notifies }: DeliveryResult,
): void {
  if (releasing) c.executionCtx.waitUntil(requestJob(c.env, 'release', grant))
  if (notifies) c.executionCtx.waitUntil(requestJob(c.env, 'webhooks', grant))
}

/** Asks the object of a job to run it. A failure is logged and not thrown: a cron does the job. */
async function requestJob(
  env: Env,
  name: 'release' | 'webhooks',
  { account, binding }: Grant,
): Promise<void> {
  try {
    await env.BACKGROUND_JOBS.getByName(`${name} ${account}`).request({ name, account, binding })
  } catch (error) {
    console.error(JSON.stringify({ fault: errorName(error), delayed: name, account }))
  }
}
