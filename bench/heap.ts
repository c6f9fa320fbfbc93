import { inspectorOf } from './inspector.ts'

/** A Worker's heap, as its debugger tells. */
export interface Heap {
  /** The bytes of heap that V8 has taken, buffers included. */
  now(): Promise<number>
  /** The most of them while this ran. */
  most(run: () => Promise<unknown>): Promise<number>
  end(): void
}

interface Usage {
  totalSize: number
  backingStorageSize: number
}

/** Listens to the debugger of the Worker that was started as `name`. */
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
      // It answers between two turns of the Worker; what V8 took it gives back late, if at all.
      while (!ended) most = Math.max(most, await now())
      await running
      return Math.max(most, await now())
    },
    end,
  }
}
