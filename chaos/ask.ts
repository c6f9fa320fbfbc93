import { setTimeout as wait } from 'node:timers/promises'

/** A complete response. `body` is parsed if it is JSON. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: callers know the shape of what they requested
  readonly body: any
}

/** The body and headers of a request. A `body` that is neither text nor bytes is sent as JSON. */
export interface Sent {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

/** Sends one request and returns the complete response. Rejects if there is none. */
export type RequestSender = (method: string, path: string, sent?: Sent) => Promise<Answer>

type Raw = string | Uint8Array<ArrayBuffer> | URLSearchParams

const isRaw = (body: unknown): body is Raw =>
  typeof body === 'string' || body instanceof Uint8Array || body instanceof URLSearchParams

/** Returns a function that sends requests with the same headers to paths below `at`. `base` may change its URL. */
export const newRequestSender =
  (base: { readonly url: URL }, own: Record<string, string> = {}, at = '/'): RequestSender =>
  async (method, path, { body, headers, signal } = {}) => {
    const response = await fetch(new URL(at + path, base.url), {
      method,
      redirect: 'manual',
      headers: {
        // workerd closes connections after five idle seconds, which a busy `fetch` may not notice.
        Connection: 'close',
        ...(body !== undefined && !isRaw(body) && { 'Content-Type': 'application/json' }),
        ...own,
        ...headers,
      },
      ...(signal && { signal }),
      ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('Content-Type')?.includes('json') && text !== ''
    const { status, headers: received } = response
    return { status, headers: received, body: isJson ? JSON.parse(text) : text }
  }

/** Returns the body of a response. Throws if it has another status. */
export async function expectBody(status: number, request: Promise<Answer>) {
  const answer = await request
  if (answer.status === status) return answer.body
  throw new Error(`Answered ${answer.status}, not ${status}: ${JSON.stringify(answer.body)}`)
}

/** Returns the body of a response. Throws unless it succeeded. */
export async function expectOk(request: Promise<Answer>) {
  const { status, body } = await request
  if (status < 300) return body
  throw new Error(`Answered ${status}: ${JSON.stringify(body).slice(0, 900)}`)
}

/** Waits until a condition holds, for at most `seconds`. Returns whether it does. */
export async function until(holds: () => boolean | Promise<boolean>, seconds = 30) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await wait(200)) {
    if (await holds()) return true
  }
  return holds()
}
