import type { ApiResponse, Exchange } from './exchange.ts'
import { problemOf, requestError } from './problem.ts'
import type { Profile } from './profile.ts'

/** Sends a request to a path of the service with the credential of a profile. */
export type Client = (path: string, request?: RequestInit) => Promise<ApiResponse>

/** After this number of refused tokens a new one is not likely to be accepted. */
const MAX_REFUSED_TOKENS = 2

/**
 * Creates a client. Of OAuth client credentials all requests share one access token, which is requested once and
 * again when it is refused; a Brand Token is sent as it is.
 *
 * @see [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4)
 */
export function createClient({ base, secrets }: Profile, exchange: Exchange): Client {
  let shared: Promise<string> | null = null

  async function requestToken(): Promise<string> {
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...secrets })
    const response = await exchange(`${base}/oauth/token`, { method: 'POST', body })
    if (response.status !== 200) throw requestError('The token request was refused', response)
    return (response.body as { access_token: string }).access_token
  }

  return async (path, { headers, ...request } = {}) => {
    const { brand_token } = secrets
    for (let refused = 0; ; refused++) {
      if (brand_token === undefined) shared ??= requestToken()
      const token = shared
      const credential = token
        ? { Authorization: `Bearer ${await token}` }
        : { 'x-api-key': brand_token! }
      const response = await exchange(`${base}${path}`, {
        ...request,
        headers: { ...headers, ...credential },
      })
      if (response.status !== 401) return response
      const isInvalid = problemOf(response.body).code === 'invalid_token'
      if (!token || !isInvalid || refused === MAX_REFUSED_TOKENS) {
        throw requestError('The credential was refused', response)
      }
      // Of all requests that were refused with the same token, the first one renews it.
      if (shared === token) shared = null
    }
  }
}
