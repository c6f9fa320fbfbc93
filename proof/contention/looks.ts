import { type Heap, watchHeap } from '../memory.ts'
import type { Service } from '../service.ts'

/** The most that one look found of an isolate, and how many looks found it at work. */
export interface Seen {
  most: Heap
  looks: number
}

/** With fewer looks the most of them says nothing. */
const LEAST_LOOKS = 3
const MOST_ROUNDS = 10

/** All that an isolate has, in bytes. */
export const sizeOf = ({ used, buffers }: Heap) => used + buffers

/**
 * Looks at the isolate wherever it waits while it works, in as many rounds as enough looks take. It
 * is at work where it has `body` bytes more than before; rejects where it was hardly seen so.
 */
export async function watched(
  service: Service,
  body: number,
  work: (round: number) => Promise<void>,
): Promise<Seen> {
  const { heap, collected, end } = await watchHeap(service)
  const atWork = sizeOf(await collected()) + body
  const seen: Seen = { most: { used: 0, buffers: 0 }, looks: 0 }
  let isOver = false
  const look = async () => {
    while (!isOver) {
      const now = await heap()
      if (sizeOf(now) < atWork) continue
      seen.looks += 1
      if (sizeOf(now) > sizeOf(seen.most)) seen.most = now
    }
  }
  let failure: unknown = null
  const looking = look().catch((error) => {
    // Once the work is over the isolate has no moment any more: nobody waits for the last look.
    if (!isOver) failure = error
  })
  try {
    for (let round = 0; round < MOST_ROUNDS && seen.looks < LEAST_LOOKS && !failure; round++) {
      await work(round)
    }
  } finally {
    isOver = true
    end()
    await looking
  }
  if (failure) throw new Error('nobody could look', { cause: failure })
  if (seen.looks >= LEAST_LOOKS) return seen
  throw new Error(`only ${seen.looks} looks of ${LEAST_LOOKS} found the isolate at work`)
}
