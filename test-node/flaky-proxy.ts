import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A request that a proxy received. */
interface Seen {
  method: string
  path: string
  body: string
  /** Milliseconds of a monotonic clock. */
  at: number
}

/**
 * Starts a proxy in front of a service. The requests that `fails` selects are answered with the next
 * status of `failures`, with `Retry-After: 1` unless it is 401, until none is left.
 */
export async function startFlakyProxy(
  target: string,
  failures: number[],
  fails: (path: string) => boolean,
) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString()
    const { method = 'GET', url: path = '' } = request
    seen.push({ method, path, body, at: performance.now() })
    const failure = fails(path) ? failures.shift() : undefined
    if (failure) {
      response.writeHead(failure, failure === 401 ? {} : { 'Retry-After': '1' }).end('{}')
      return
    }
    const answer = await fetch(target + path, {
      method,
      headers: forwardedHeaders(request),
      ...(method === 'POST' && { body }),
    })
    const type = answer.headers.get('Content-Type') ?? 'text/plain'
    response.writeHead(answer.status, { 'Content-Type': type }).end(await answer.text())
  }).listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { base: `http://127.0.0.1:${port}`, seen, close }
}

function forwardedHeaders({ headers }: IncomingMessage): Record<string, string> {
  const names = ['authorization', 'content-type', 'x-api-key']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}
