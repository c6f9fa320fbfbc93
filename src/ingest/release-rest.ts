import type { Grant } from '../auth/grant.ts'
import { resolveDatabase } from '../db/database.ts'
import { HELD_LIMITS } from '../db/records/held-limits.ts'
import { finishReleases } from '../db/records/release.ts'
import { errorName } from '../errors.ts'

/**
 * Releases the held records that a request has left, after its response. A failure is logged and not
 * thrown: a cron goes on.
 */
export async function releaseRest(env: Env, { account, binding }: Grant): Promise<void> {
  try {
    const deadline = Date.now() + HELD_LIMITS.milliseconds
    await finishReleases(resolveDatabase(env, binding), account, deadline)
  } catch (error) {
    console.error(JSON.stringify({ fault: errorName(error), not_released: account }))
  }
}
