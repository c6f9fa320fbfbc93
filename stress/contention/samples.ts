import { type Heap, watchHeap } from '../memory.ts'
import type { Service } from '../service.ts'

/** The largest sample of an isolate's memory, and how many samples were taken while it worked. */
export interface PeakMemory {
  most: Heap
  samples: number
}

/** With fewer samples the maximum means nothing. */
const LEAST_SAMPLES = 3
const MOST_ROUNDS = 10

/** The total memory of an isolate, in bytes. */
export const sizeOf = ({ used, buffers }: Heap) => used + buffers

/**
 * Samples the memory of an isolate whenever it waits, in as many rounds as enough samples take. It is
 * at work if it has `body` bytes more than before. Rejects if there are too few such samples.
 */
export async function samplePeak(
  service: Service,
  body: number,
  work: (round: number) => Promise<void>,
): Promise<PeakMemory> {
  const { heap, collected, end } = await watchHeap(service)
  const atWork = sizeOf(await collected()) + body
  const peak: PeakMemory = { most: { used: 0, buffers: 0 }, samples: 0 }
  let isOver = false
  const takeSamples = async () => {
    while (!isOver) {
      const now = await heap()
      if (sizeOf(now) < atWork) continue
      peak.samples += 1
      if (sizeOf(now) > sizeOf(peak.most)) peak.most = now
    }
  }
  let failure: unknown = null
  const sampling = takeSamples().catch((error) => {
    // After the end the inspector may be closed, which fails the last sample.
    if (!isOver) failure = error
  })
  try {
    for (let round = 0; round < MOST_ROUNDS && peak.samples < LEAST_SAMPLES && !failure; round++) {
      await work(round)
    }
  } finally {
    isOver = true
    end()
    await sampling
  }
  if (failure) throw new Error('the inspector failed', { cause: failure })
  if (peak.samples >= LEAST_SAMPLES) return peak
  throw new Error(`only ${peak.samples} of ${LEAST_SAMPLES} samples found the isolate at work`)
}
