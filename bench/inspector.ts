/**
 * Calls a method of a Worker's inspector, which answers between two turns of the Worker. Rejects once
 * the connection is closed.
 */
export interface Inspector {
  ask<T>(method: string): Promise<T>
  end(): void
}

/** Connects to the inspector of the Worker named `name`. */
export async function inspectorOf(address: URL, name: string): Promise<Inspector> {
  const socket = new WebSocket(new URL(`/core:user:${name}`, address))
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = () => reject(new Error(`No inspector listens at ${address}.`))
  })
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(String(data))
    if (error) pending.get(id)?.reject(new Error(`The inspector answered: ${error.message}`))
    else pending.get(id)?.resolve(result)
    pending.delete(id)
  }
  socket.onclose = () => {
    for (const { reject } of pending.values()) reject(new Error('The inspector is gone.'))
    pending.clear()
  }
  let last = 0
  return {
    ask<T>(method: string) {
      if (socket.readyState !== WebSocket.OPEN) throw new Error('The inspector is gone.')
      const asking = Promise.withResolvers<T>()
      pending.set(++last, asking as PromiseWithResolvers<unknown>)
      socket.send(JSON.stringify({ id: last, method }))
      return asking.promise
    },
    end: () => socket.close(),
  }
}
