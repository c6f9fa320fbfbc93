import { inspectorOf } from './inspector.ts'

/** A Worker's heap, by its inspector. */
export interface Heap {
  /** Returns the heap that V8 has allocated, with buffers, in bytes. */
  now(): Promise<number>
  /** Returns what objects use of it, garbage that is not collected yet included, in bytes. */
  used(): Promise<number>
  /** Returns the peak of one of these while a function runs. */
  most(run: () => Promise<unknown>, read?: () => Promise<number>): Promise<number>
  end(): void
}

interface Usage {
  usedSize: number
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
  const used = async () => {
    const { usedSize, backingStorageSize } = await ask<Usage>('Runtime.getHeapUsage')
    return usedSize + backingStorageSize
  }
  return {
    now,
    used,
    async most(run, read = now) {
      let ended = false
      const running = run().finally(() => {
        ended = true
      })
      let most = 0
      // The inspector answers between two turns. V8 returns memory late, if at all.
      while (!ended) most = Math.max(most, await read())
      await running
      return Math.max(most, await read())
    },
    end,
  }
}
