import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Delivery } from './bulks.ts'
import type { Authenticator } from './credentials.ts'
import type { ApiResponse, Exchange } from './exchange.ts'
import { problemOf, requestError } from './problem.ts'
import type { Target } from './vertical.ts'

/** Sends records as one bulk. Returns responses about the bulk, and throws all others. */
export type Post = (delivery: Delivery) => Promise<ApiResponse>

const compress = promisify(gzip)

/** Statuses that depend on the bulk; with any other status all bulks would fail. */
const ABOUT_THE_BULK = [200, 201, 207, 413, 422]

/** After this number of refused tokens a new one is not likely to be accepted. */
const MAX_REFUSED_TOKENS = 2

/** The address of bulks and the headers that depend on the command line. */
export interface PostOptions {
  url: string
  prefer: string
  headersOf: Target['headersOf']
}

/** Creates a function that sends bulks to one address with a valid credential. */
export function createPost(
  { url, prefer, headersOf }: PostOptions,
  authenticator: Authenticator,
  exchange: Exchange,
): Post {
  const fixed = {
    'Content-Type': 'application/json',
    'Content-Encoding': 'gzip',
    Prefer: prefer,
  }
  return async (delivery) => {
    const body = await compress(`[${delivery.texts.join(',')}]`)
    // Computed once: every retry must have the same Idempotency-Key.
    const own = headersOf(delivery)
    for (let refused = 0; ; ) {
      const credential = await authenticator.headers()
      const headers = { ...fixed, ...own, ...credential }
      const response = await exchange(url, { method: 'POST', headers, body })
      if (ABOUT_THE_BULK.includes(response.status)) return response
      refused += 1
      if (!isInvalidToken(response) || refused > MAX_REFUSED_TOKENS) {
        const summary = response.status === 401 ? authenticator.refusedMessage : 'Stopped'
        throw requestError(summary, response)
      }
      authenticator.invalidate(credential)
    }
  }
}

const isInvalidToken = ({ status, body }: ApiResponse) =>
  status === 401 && problemOf(body).code === 'invalid_token'
