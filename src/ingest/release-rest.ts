import type { Grant } from '../auth/grant.ts'
import { resolveDatabase } from '../db/database.ts'
import { HELD_LIMITS } from '../db/records/held-limits.ts'
import { finishReleases } from '../db/records/release.ts'
import { errorName } from '../errors.ts'
import { oncePerInterval } from './once-per-interval.ts'

/** The least time between the starts of two releases of an account, in milliseconds. */
const INTERVAL_MS = 20_000

const mayRelease = oncePerInterval(INTERVAL_MS)

/**
 * Releases the held records that the batch of a request did not release. Runs after the response. It reads
 * all held records of the account, so an isolate starts at most one such release in 20 seconds. A cron
 * job does the rest, also after a failure, which is logged and not thrown.
 */
export async function releaseRest(env: Env, { account, binding }: Grant): Promise<void> {
  const now = Date.now()
  if (!mayRelease(account, now)) return
  try {
    const deadline = now + HELD_LIMITS.releaseMs
    await finishReleases(resolveDatabase(env, binding), account, deadline)
  } catch (error) {
    console.error(JSON.stringify({ fault: errorName(error), not_released: account }))
  }
}
