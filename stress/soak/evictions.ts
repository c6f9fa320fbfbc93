import type { Service } from '../service.ts'
import { WORKER } from '../service.ts'
import type { Draw } from './draw.ts'
import type { Pool } from './pool.ts'

const EVERY_MS = 2000

/**
 * Starts to evict objects of resting tokens, one every 2 s. The platform evicts them after 10 s; here
 * their lease is still open. Objects in use are left alone: the runtime would wait 5 s for their file.
 */
export function startEvictions(
  { miniflare }: Service,
  pools: readonly Pool[],
  draw: Draw,
  reportProblem: (message: string) => void,
) {
  let count = 0
  const timer = setInterval(async () => {
    const pool = draw.one(pools)
    const objectName = pool.resting()
    if (objectName === null) return
    try {
      await miniflare.unsafeEvictDurableObject(WORKER, 'TokenGate', { name: objectName })
      pool.noteEviction(objectName)
      count += 1
    } catch (error) {
      // The platform may have evicted it already.
      if (!String(error).includes('not currently running'))
        reportProblem(`an eviction failed: ${error}`)
    }
  }, EVERY_MS)
  return { end: () => clearInterval(timer), count: () => count }
}
