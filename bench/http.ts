import { Agent, type IncomingHttpHeaders, request } from 'node:http'

/**
 * Connections are kept, one for each request at a time: what `fetch` does would be measured, too.
 * workerd hangs up after five idle seconds, so nothing is sent on what has been idle for four.
 */
const agent = new Agent({ keepAlive: true, timeout: 4000 })

/** An answer, as far as it is looked at. */
export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** What is sent: a GET, or a POST where there is a body, unless it says otherwise. */
export interface Sending {
  body?: string
  headers?: Record<string, string>
  method?: string
}

/** Sends one request and reads the whole answer. */
export function send(url: URL, sending: Sending = {}): Promise<Answer> {
  const { body, headers, method = body ? 'POST' : 'GET' } = sending
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, text }),
      )
      response.on('error', reject)
    })
    // A connection that was idle may have been closed just then: nobody has read the request.
    sent.on('error', (error: NodeJS.ErrnoException) =>
      sent.reusedSocket && error.code === 'ECONNRESET'
        ? resolve(send(url, sending))
        : reject(new Error(`${url} did not answer: ${error.message}`, { cause: error })),
    )
    sent.end(body)
  })
}

/** The text of an answer that must be a good one. */
export async function good(...sent: Parameters<typeof send>): Promise<string> {
  const { status, text } = await send(...sent)
  if (status < 300) return text
  throw new Error(`${sent[0].pathname} answered ${status}: ${text}`)
}
