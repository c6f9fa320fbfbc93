import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

/** An event as a receiver got it. */
export interface Received {
  /** The path of the URL. */
  readonly path: string
  /** The parameters of the query: a postback has its values there. */
  readonly values: Readonly<Record<string, string>>
  /** The header `webhook-id`, or the parameter `tx`. */
  readonly id: string
  readonly headers: Record<string, string>
  readonly body: string
  readonly event: {
    readonly type: string
    readonly timestamp: string
    readonly data: Record<string, unknown>
  }
  /** Whether the library `standardwebhooks` accepts the signature. */
  readonly isSigned: boolean
}

type Behaviour = (response: ServerResponse, request: IncomingMessage, attempt: number) => void

const answer =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end()

const afterwards =
  (ms: number): Behaviour =>
  (response) =>
    setTimeout(() => response.writeHead(200).end(), ms).unref()

/** How a receiver behaves, by the first part of its path. */
const BEHAVIOURS: Record<string, Behaviour> = {
  ok: answer(200),
  fail: answer(500),
  gone: answer(410),
  redirect: answer(302, { Location: '/ok/redirected' }),
  close: (_, request) => request.socket.destroy(),
  hang: () => {},
  late: afterwards(12_000),
  slow: afterwards(300),
  once: (response, request, attempt) => answer(attempt === 1 ? 503 : 204)(response, request, 0),
}

/** A receiver on loopback. */
export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** The secrets of the webhooks, by the path of their URL. */
  readonly secrets: Map<string, string>
  /** Returns what arrived at a path. */
  readonly at: (path: string) => Received[]
  readonly stop: () => Promise<void>
}

function isSigned(secret: string | undefined, body: string, headers: Record<string, string>) {
  if (secret === undefined) return false
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}

/** Starts a receiver that verifies each event. The path decides how it answers: `/ok`, `/fail`, `/hang` … */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const secrets = new Map<string, string>()
  const server = createServer(async (request, response) => {
    const { pathname: path, searchParams } = new URL(request.url ?? '', 'http://receiver')
    const values = Object.fromEntries(searchParams)
    const body = await text(request)
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const id = headers['webhook-id'] ?? values.tx ?? ''
    const signed = isSigned(secrets.get(path), body, headers)
    const event = JSON.parse(body || '{}')
    received.push({ path, values, id, headers, body, event, isSigned: signed })
    const attempt = received.filter((one) => one.path === path && one.id === id).length
    BEHAVIOURS[path.split('/')[1] ?? '']?.(response, request, attempt)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    secrets,
    at: (path) => received.filter((one) => one.path === path),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
