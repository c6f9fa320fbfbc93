import { Agent, request } from 'node:http'

/**
 * Keeps connections alive. `fetch` would add its own cost. workerd closes idle connections after five
 * seconds, so those idle for four are not used.
 */
const agent = new Agent({ keepAlive: true, timeout: 4000 })

/** A request: by default a POST if there is a body, and a GET otherwise. */
export interface RequestOptions {
  readonly body?: string
  readonly headers?: Record<string, string>
  readonly method?: string
}

/** Sends one request and returns the status and the whole text of the response. */
export function send(
  url: URL,
  sending: RequestOptions = {},
): Promise<{ status: number; text: string }> {
  const { body, headers, method = body === undefined ? 'GET' : 'POST' } = sending
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode!, text }))
      response.on('error', reject)
    })
    // The server may have closed an idle connection before it read the request.
    sent.on('error', (error: NodeJS.ErrnoException) =>
      sent.reusedSocket && error.code === 'ECONNRESET'
        ? resolve(send(url, sending))
        : reject(new Error(`${url} did not answer: ${error.message}`, { cause: error })),
    )
    sent.end(body)
  })
}

/** Returns the text of a response. Throws unless it succeeded. */
export async function expectOk(url: URL, sending?: RequestOptions): Promise<string> {
  const { status, text } = await send(url, sending)
  if (status < 400) return text
  throw new Error(`${url.pathname} answered ${status}: ${text.slice(0, 500)}`)
}
