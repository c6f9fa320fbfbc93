import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Keyring } from './credentials.ts'
import type { Delivery } from './deliver.ts'
import type { Answer, Exchange } from './exchange.ts'
import { refusal } from './refusal.ts'
import type { Target } from './verticals.ts'

/** Sends records as one bulk; the answer says what became of them, or is a 413. */
export type Post = (delivery: Delivery) => Promise<Answer>

const compress = promisify(gzip)

/** What is about the bulk; any other answer is about all of them. */
const ABOUT_THE_BULK = [200, 201, 207, 413, 422]

/** When one new token after the other is refused, the next will not be better. */
const MAX_REFUSED = 2

/** Where bulks are sent, and with what. */
export interface Address {
  url: string
  prefer: string
  headersOf: Target['headersOf']
}

/** A way to send bulks to one address, with a credential that is valid. */
export function poster({ url, prefer, headersOf }: Address, keyring: Keyring, exchange: Exchange) {
  const fixed = {
    'Content-Type': 'application/json',
    'Content-Encoding': 'gzip',
    Prefer: prefer,
  }
  const post: Post = async (delivery) => {
    const body = await compress(`[${delivery.texts.join(',')}]`)
    // Made once: whatever repeats the request, it is the same one.
    const own = headersOf(delivery)
    for (let refused = 0; ; ) {
      const credential = await keyring.headers()
      const headers = { ...fixed, ...own, ...credential }
      const answer = await exchange(url, { method: 'POST', headers, body })
      if (ABOUT_THE_BULK.includes(answer.status)) return answer
      refused += 1
      if (!isInvalidToken(answer) || refused > MAX_REFUSED) {
        throw refusal(answer.status === 401 ? keyring.unwelcome : 'Stopped', answer)
      }
      keyring.refused(credential)
    }
  }
  return post
}

const isInvalidToken = ({ status, body }: Answer) =>
  status === 401 && (body as { code?: string } | undefined)?.code === 'invalid_token'
