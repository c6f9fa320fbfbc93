import { Agent, request } from 'node:http'

/** One connection, kept: what `fetch` does beside would be measured, too. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** An answer, as far as it is looked at. */
export interface Answer {
  status: number
  text: string
}

/** Sends one request and reads the whole answer. */
export function send(
  url: URL,
  {
    body,
    headers,
    method = body ? 'POST' : 'GET',
  }: { body?: string; headers?: Record<string, string>; method?: string } = {},
): Promise<Answer> {
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
    sent.on('error', reject)
    sent.end(body)
  })
}

/** The text of an answer that must be a good one. */
export async function good(...sent: Parameters<typeof send>): Promise<string> {
  const { status, text } = await send(...sent)
  if (status < 300) return text
  throw new Error(`${sent[0].pathname} answered ${status}: ${text}`)
}
