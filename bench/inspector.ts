/** Asks a Worker's debugger by the method's name; it answers between two turns of the Worker. */
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
  const asked = new Map<number, (result: unknown) => void>()
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(String(data))
    asked.get(id)?.(result)
    asked.delete(id)
  }
  let last = 0
  return {
    ask: <T>(method: string) =>
      new Promise<T>((resolve) => {
        asked.set(++last, resolve as (result: unknown) => void)
        socket.send(JSON.stringify({ id: last, method }))
      }),
    end: () => socket.close(),
  }
}
