import { inspectorOf } from './inspector.ts'

/** A Worker's heap, by its inspector. */
export interface Heap {
  /** Returns the heap that V8 has allocated, with buffers, in bytes. */
  now(): Promise<number>
  /** Returns the peak while a function runs. */
  most(run: () => Promise<unknown>): Promise<number>
  end(): void
}

interface Usage {
  totalSize: number
  backingStorageSize: number
}

/** Connects to the inspector of the Worker named `name`. */
export async function heapOf(inspector: URL, name: string): Promise<Heap> {
  const { ask, end } = await inspectorOf(inspector, name)
  const now = async () => {
    const { totalSize, backingStorageSize } = await ask<Usage>('Runtime.getHeapUsage')
    return totalSize + backingStorageSize
  }
  return {
    now,
    async most(run) {
      let ended = false
      const running = run().finally(() => {
        ended = true
      })
      let most = 0
      // The inspector answers between two turns. V8 returns memory late, if at all.
      while (!ended) most = Math.max(most, await now())
      await running
      return Math.max(most, await now())
    },
    end,
  }
}
