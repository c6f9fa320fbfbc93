import { Agent, type IncomingHttpHeaders, request } from 'node:http'

/**
 * Keeps connections alive, one per concurrent request. `fetch` would add its own cost. workerd closes
 * idle connections after five seconds, so those idle for four are not used.
 */
const agent = new Agent({ keepAlive: true, timeout: 4000 })

/** The parts of a response that the bench reads. */
export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** When the first part of the body arrived, as `performance.now()` has it. */
  firstAt: number
}

/** A request: by default a POST if there is a body, and a GET otherwise. */
export interface RequestOptions {
  body?: string
  headers?: Record<string, string>
  method?: string
}

/** Sends one request and returns the complete response. */
export function send(url: URL, sending: RequestOptions = {}): Promise<Answer> {
  const { body, headers, method = body ? 'POST' : 'GET' } = sending
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      let text = ''
      let firstAt = 0
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        firstAt ||= performance.now()
        text += part
      })
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, text, firstAt }),
      )
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
export async function expectOk(...sent: Parameters<typeof send>): Promise<string> {
  const { status, text } = await send(...sent)
  if (status < 300) return text
  throw new Error(`${sent[0].pathname} answered ${status}: ${text}`)
}
