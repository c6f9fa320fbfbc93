import { setTimeout as wait } from 'node:timers/promises'

/** A complete response. `body` is parsed if it is JSON. Times are in milliseconds. */
export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: callers know the shape of what they requested
  body: any
  /** The method and the path of the request, without its query. */
  route: string
  sentAt: number
  answeredAt: number
}

/** The body and headers of a request. A `body` that is neither text nor bytes is sent as JSON. */
export interface Sent {
  body?: unknown
  headers?: Record<string, string>
}

/** Sends one request and returns the complete response. Rejects if there is none. */
export type RequestSender = (method: string, path: string, sent?: Sent) => Promise<Answer>

type Raw = string | Uint8Array<ArrayBuffer> | URLSearchParams

const isRaw = (body: unknown): body is Raw =>
  typeof body === 'string' || body instanceof Uint8Array || body instanceof URLSearchParams

/** Returns a function that sends requests with the same headers to paths below `at`. */
export const newRequestSender =
  (base: URL, own: Record<string, string> = {}, at = '/'): RequestSender =>
  async (method, path, { body, headers } = {}) => {
    const sentAt = Date.now()
    const url = new URL(at + path, base)
    const route = `${method} ${url.pathname}`
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        // workerd closes connections after five idle seconds, which a busy `fetch` may not notice.
        Connection: 'close',
        ...(body !== undefined && !isRaw(body) && { 'Content-Type': 'application/json' }),
        ...own,
        ...headers,
      },
      ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('Content-Type')?.includes('json') && text !== ''
    const { status, headers: answerHeaders } = response
    const answeredAt = Date.now()
    const parsed = isJson ? JSON.parse(text) : text
    return { status, headers: answerHeaders, body: parsed, route, sentAt, answeredAt }
  }

/** Returns the body of a response. Throws if it has another status. */
export async function expectBody(status: number, request: Promise<Answer>) {
  const answer = await request
  if (answer.status === status) return answer.body
  throw new Error(`Answered ${answer.status}, not ${status}: ${JSON.stringify(answer.body)}`)
}

/** Sends a GET, and again after `Retry-After` for as long as the answer is 429. */
export async function askInTurn(ask: RequestSender, path: string): Promise<Answer> {
  for (;;) {
    const answer = await ask('GET', path)
    if (answer.status !== 429) return answer
    await wait(1000 * Number(answer.headers.get('Retry-After')))
  }
}
