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
  const socket = new WebSocket(new URL(`/core:user:${name}`, inspector))
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error(`There is no debugger at ${inspector}.`))
  })
  const asked = new Map<number, (result: unknown) => void>()
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(data)
    asked.get(id)?.(result)
    asked.delete(id)
  }
  let last = 0
  const ask = <T>(method: string) =>
    new Promise<T>((resolve) => {
      asked.set(++last, resolve as (result: unknown) => void)
      socket.send(JSON.stringify({ id: last, method }))
    })
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
    end: () => socket.close(),
  }
}
