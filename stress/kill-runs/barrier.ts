import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A moment of a run: before or after a call to D1, by the text of its first statement. */
export interface Moment {
  readonly moment: string
  readonly sql: string
}

/** A server that the Workflow asks before and after each call to D1. */
export interface Barrier {
  readonly url: string
  /** The moments since the barrier was last set. */
  readonly seen: readonly Moment[]
  /** Lets so many moments pass. The next one calls `stop` and is never answered. */
  readonly set: (passing: number, stop: () => void) => void
  readonly close: () => void
}

/** Opens a barrier that lets every moment pass. */
export async function openBarrier(): Promise<Barrier> {
  const seen: Moment[] = []
  let left = Number.POSITIVE_INFINITY
  let stop = () => {}
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://barrier')
    if (left < 0) return
    left -= 1
    if (left < 0) return stop()
    seen.push({ moment: searchParams.get('moment') ?? '', sql: searchParams.get('sql') ?? '' })
    response.end('pass')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    set(passing, act) {
      seen.length = 0
      left = passing
      stop = act
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
