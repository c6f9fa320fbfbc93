import type { Exchange } from './exchange.ts'
import { refusal } from './refusal.ts'

/** What a request is sent with, so that the service knows its sender. */
export interface Keyring {
  headers: () => Promise<Record<string, string>>
  /** The service said 401 `invalid_token` to a request with these headers. */
  refused: (headers: Record<string, string>) => void
  /** What there is to say when the service will have none of it. */
  unwelcome: string
}

/** A way to say who sends. */
export interface Credential {
  /** What an account in a profile has for it; the environment has `TRIBUTARY_{MEMBER}`. */
  readonly members: readonly string[]
  readonly open: (base: string, secrets: Record<string, string>, exchange: Exchange) => Keyring
}

/** A token is not used in the last minute before it expires. */
const MARGIN_MS = 60_000

/**
 * One access token for all requests: asked for once, however many wait for it, and again before it
 * expires or when it is refused.
 *
 * @see [RFC 6749 §4.4](https://www.rfc-editor.org/rfc/rfc6749#section-4.4)
 */
export const clientCredentials: Credential = {
  members: ['client_id', 'client_secret'],
  open(base, secrets, exchange) {
    let header: Promise<string> | null = null
    let current = ''
    let renewAt = 0

    async function ask(): Promise<string> {
      const body = new URLSearchParams({ grant_type: 'client_credentials', ...secrets })
      const answer = await exchange(`${base}/oauth/token`, { method: 'POST', body })
      if (answer.status !== 200) throw refusal('The token request was refused', answer)
      const { access_token, expires_in } = answer.body as Token
      const lives = expires_in * 1000
      renewAt = Date.now() + lives - Math.min(MARGIN_MS, lives / 2)
      current = `Bearer ${access_token}`
      return current
    }

    return {
      async headers() {
        if (header === null || Date.now() >= renewAt) {
          renewAt = Number.POSITIVE_INFINITY
          current = ''
          header = ask()
        }
        return { Authorization: await header }
      },
      refused({ Authorization }) {
        // Of all that were refused with the same token, the first has it renewed.
        if (Authorization === current) renewAt = 0
      },
      unwelcome: 'The access token was refused',
    }
  },
}

/** A Brand Token is sent as it is: another one is made only in the settings of the brand. */
export const brandToken: Credential = {
  members: ['brand_token'],
  open: (_base, { brand_token }) => ({
    headers: async () => ({ 'x-api-key': brand_token! }),
    refused: () => {},
    unwelcome: 'The Brand Token was refused',
  }),
}

/** @see [RFC 6749 §5.1](https://www.rfc-editor.org/rfc/rfc6749#section-5.1) */
interface Token {
  access_token: string
  expires_in: number
}
