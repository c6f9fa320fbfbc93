/**
 * Asks a Worker's debugger by the method's name; it answers between two turns of the Worker, and
 * rejects once nobody can answer any more.
 */
export interface Inspector {
  ask<T>(method: string): Promise<T>
  end(): void
}

/** Listens to the debugger of the Worker that was started as `name`. */
export async function inspectorOf(address: URL, name: string): Promise<Inspector> {
  const socket = new WebSocket(new URL(`/core:user:${name}`, address))
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error(`There is no debugger at ${address}.`))
  })
  const asked = new Map<number, PromiseWithResolvers<unknown>>()
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(String(data))
    if (error) asked.get(id)?.reject(new Error(`The debugger says: ${error.message}`))
    else asked.get(id)?.resolve(result)
    asked.delete(id)
  }
  socket.onclose = () => {
    for (const { reject } of asked.values()) reject(new Error('The debugger is gone.'))
    asked.clear()
  }
  let last = 0
  return {
    ask<T>(method: string) {
      if (socket.readyState !== WebSocket.OPEN) throw new Error('The debugger is gone.')
      const asking = Promise.withResolvers<T>()
      asked.set(++last, asking as PromiseWithResolvers<unknown>)
      socket.send(JSON.stringify({ id: last, method }))
      return asking.promise
    },
    end: () => socket.close(),
  }
}
