/** An answer, read to its end; `body` is parsed where it is JSON. All times in milliseconds. */
export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: looked into by those who know what they asked
  body: any
  /** What was asked: the method and the path, without its query. */
  asked: string
  sentAt: number
  answeredAt: number
}

/** What is sent beside method and path; a `body` that is no text or bytes goes as JSON. */
export interface Sent {
  body?: unknown
  headers?: Record<string, string>
}

/** Sends one request, and waits for the whole answer; rejects where there is none. */
export type Ask = (method: string, path: string, sent?: Sent) => Promise<Answer>

type Raw = string | Uint8Array<ArrayBuffer> | URLSearchParams

const isRaw = (body: unknown): body is Raw =>
  typeof body === 'string' || body instanceof Uint8Array || body instanceof URLSearchParams

/** Asks a service with the same headers each time; paths begin `at`. */
export const asking =
  (base: URL, own: Record<string, string> = {}, at = '/'): Ask =>
  async (method, path, { body, headers } = {}) => {
    const sentAt = Date.now()
    const url = new URL(at + path, base)
    const asked = `${method} ${url.pathname}`
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        // workerd hangs up after five idle seconds, which a busy `fetch` may not notice.
        Connection: 'close',
        ...(body !== undefined && !isRaw(body) && { 'Content-Type': 'application/json' }),
        ...own,
        ...headers,
      },
      ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('Content-Type')?.includes('json') && text !== ''
    const { status, headers: said } = response
    const answeredAt = Date.now()
    const parsed = isJson ? JSON.parse(text) : text
    return { status, headers: said, body: parsed, asked, sentAt, answeredAt }
  }

/** The body of an answer that must have this status. */
export async function answered(status: number, asked: Promise<Answer>) {
  const answer = await asked
  if (answer.status === status) return answer.body
  throw new Error(`Answered ${answer.status}, not ${status}: ${JSON.stringify(answer.body)}`)
}
