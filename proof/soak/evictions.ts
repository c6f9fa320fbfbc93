import type { Service } from '../service.ts'
import { WORKER } from '../service.ts'
import type { Draw } from './draw.ts'
import type { Pool } from './pool.ts'

const EVERY_MS = 2000

/** Evicts a token's object now and then, while it is in use. */
export function evicting(
  { miniflare }: Service,
  pools: readonly Pool[],
  draw: Draw,
  odd: (words: string) => void,
) {
  let count = 0
  const timer = setInterval(async () => {
    const pool = draw.one(pools)
    const gate = draw.one(pool.gates)
    pool.evicted(gate)
    try {
      await miniflare.unsafeEvictDurableObject(WORKER, 'TokenGate', { name: gate })
      count += 1
    } catch (error) {
      odd(`an object could not be evicted: ${error}`)
    }
  }, EVERY_MS)
  return { end: () => clearInterval(timer), count: () => count }
}
