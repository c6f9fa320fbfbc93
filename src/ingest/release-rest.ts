import type { Grant } from '../auth/grant.ts'
import { resolveDatabase } from '../db/database.ts'
import { HELD_LIMITS } from '../db/records/held-limits.ts'
import { finishReleases } from '../db/records/release.ts'
import { errorName } from '../errors.ts'
import { newThrottle } from './throttle.ts'

/** The least time between the starts of two releases of an account, in milliseconds. */
const INTERVAL_MS = 20_000

const mayRelease = newThrottle(INTERVAL_MS)

/**
 * Releases the held records that a request has left, after its response. A failure is logged and not
 * thrown: a cron goes on. It walks all that the account holds, so one release of an account runs at a
 * time, and what a later request leaves waits for the cron.
 */
export async function releaseRest(env: Env, { account, binding }: Grant): Promise<void> {
  const now = Date.now()
  if (!mayRelease(account, now)) return
  try {
    const deadline = now + HELD_LIMITS.milliseconds
    await finishReleases(resolveDatabase(env, binding), account, deadline)
  } catch (error) {
    console.error(JSON.stringify({ fault: errorName(error), not_released: account }))
  }
}
