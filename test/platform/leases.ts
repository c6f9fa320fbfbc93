import { vi } from 'vitest'
import { QUEUES } from '../../src/http/memory-queues.ts'

/**
 * Ends the leases of requests that earlier test files of the process have cut off: otherwise these hold
 * memory until their time is over. Returns how much of each queue is leased after that.
 */
export function endLeases(): number[] {
  // Some files set the clock forward, and leases end by the clock.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(9999, 0) })
  const used = Object.values(QUEUES).map((queue) => {
    const lease = queue.tryTake(queue.limit, '', 0)
    if (lease) queue.release(lease)
    return queue.used
  })
  vi.useRealTimers()
  return used
}
