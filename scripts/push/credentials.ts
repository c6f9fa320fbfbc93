import type { ApiResponse, Exchange } from './exchange.ts'
import { requestError } from './problem.ts'

/** Adds the credential to requests. */
export interface Authenticator {
  headers: () => Promise<Record<string, string>>
  /** Reports a 401 `invalid_token` for a request with these headers. */
  invalidate: (headers: Record<string, string>) => void
  /** What to tell the user if the API does not accept the credential. */
  refusedMessage: string
}

/** A type of credential. */
export interface CredentialType {
  /** The members of an account in a profile; the environment has `TRIBUTARY_{MEMBER}`. */
  readonly members: readonly string[]
  readonly open: (
    base: string,
    secrets: Record<string, string>,
    exchange: Exchange,
  ) => Authenticator
}

/** An access token is not used in the last minute before it expires. */
const EXPIRY_MARGIN_MS = 60_000

/**
 * OAuth client credentials: all requests share one access token, which is requested once and again
 * before it expires or when it is refused.
 *
 * @see [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4)
 */
export const clientCredentials: CredentialType = {
  members: ['client_id', 'client_secret'],
  open(base, secrets, exchange) {
    let header: Promise<string> | null = null
    let current = ''
    let renewAt = 0

    async function requestToken(): Promise<string> {
      const body = new URLSearchParams({ grant_type: 'client_credentials', ...secrets })
      const response = await exchange(`${base}/oauth/token`, { method: 'POST', body })
      if (response.status !== 200) throw requestError('The token request was refused', response)
      const { access_token, expires_in } = tokenOf(response)
      const lifetime = expires_in * 1000
      renewAt = Date.now() + lifetime - Math.min(EXPIRY_MARGIN_MS, lifetime / 2)
      current = `Bearer ${access_token}`
      return current
    }

    return {
      async headers() {
        if (header === null || Date.now() >= renewAt) {
          renewAt = Number.POSITIVE_INFINITY
          current = ''
          header = requestToken()
        }
        return { Authorization: await header }
      },
      invalidate({ Authorization }) {
        // Of all requests that were refused with the same token, the first one renews it.
        if (Authorization === current) renewAt = 0
      },
      refusedMessage: 'The access token was refused',
    }
  },
}

/** A Brand Token, sent as it is: only the integrations team can issue another one. */
export const brandToken: CredentialType = {
  members: ['brand_token'],
  open: (_base, { brand_token }) => ({
    headers: async () => ({ 'x-api-key': brand_token! }),
    invalidate: () => {},
    refusedMessage: 'The Brand Token was refused',
  }),
}

/** @see [RFC 6749 §5.1](https://www.rfc-editor.org/rfc/rfc6749#section-5.1) */
interface TokenResponse {
  access_token: string
  expires_in: number
}

const tokenOf = ({ body }: ApiResponse) => body as TokenResponse
