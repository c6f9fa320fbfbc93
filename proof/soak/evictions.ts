import type { Service } from '../service.ts'
import { WORKER } from '../service.ts'
import type { Draw } from './draw.ts'
import type { Pool } from './pool.ts'

const EVERY_MS = 2000

/**
 * Evicts the object of a token that rests now and then, as the platform does after 10 s, so that its
 * lease is open still. One that is in use is not: the runtime would wait 5 s for its file to be free.
 */
export function evicting(
  { miniflare }: Service,
  pools: readonly Pool[],
  draw: Draw,
  odd: (words: string) => void,
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
      // It may be gone already: the platform was quicker.
      if (!String(error).includes('not currently running')) odd(`an eviction failed: ${error}`)
    }
  }, EVERY_MS)
  return { end: () => clearInterval(timer), count: () => count }
}
