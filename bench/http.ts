import { Agent, request } from 'node:http'

/** One connection, kept: what `fetch` does beside would be measured, too. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** An answer, as far as it is looked at. */
export interface Answer {
  status: number
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
      response.on('end', () => resolve({ status: response.statusCode!, text }))
      response.on('error', reject)
    })
    // A connection that was idle may have been closed just then: nobody has read the request.
    sent.on('error', (error: NodeJS.ErrnoException) =>
      sent.reusedSocket && error.code === 'ECONNRESET'
        ? resolve(send(url, sending))
        : reject(error),
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
