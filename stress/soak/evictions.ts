import type { Service } from '../service.ts'
import { WORKER } from '../service.ts'
import type { Draw } from './draw.ts'
import type { Pool } from './pool.ts'

const EVERY_MS = 2000

/**
 * Evicts the object of a resting token now and then, as the platform does after 10 s, but while its
 * lease is still open. Objects in use are left alone: the runtime would wait 5 s for their file.
 */
export function evicting(
  { miniflare }: Service,
  pools: readonly Pool[],
  draw: Draw,
  reportProblem: (message: string) => void,
) {
  let count = 0
  const timer = setInterval(async () => {
    const pool = draw.one(pools)
    const gate = pool.resting()
    if (gate === null) return
    try {
      await miniflare.unsafeEvictDurableObject(WORKER, 'TokenGate', { name: gate })
      pool.evicted(gate)
      count += 1
    } catch (error) {
      // The platform may have evicted it already.
      if (!String(error).includes('not currently running'))
        reportProblem(`an eviction failed: ${error}`)
    }
  }, EVERY_MS)
  return { end: () => clearInterval(timer), count: () => count }
}
