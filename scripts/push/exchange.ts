import { setTimeout as sleep } from 'node:timers/promises'
import { ExitError } from '../exit-error.ts'

/** A response that a retry would not change. */
export interface ApiResponse {
  status: number
  headers: Headers
  /** Parsed JSON; undefined if the body is not JSON. A text if a text was asked for and returned. */
  body: unknown
}

/** Sends a request until it is answered. Throws `ExitError` if that fails. */
export type Exchange = (url: string, request: RequestInit) => Promise<ApiResponse>

/** A request that takes longer counts as lost: the API answers a bulk within seconds. */
const TIMEOUT_MS = 60_000

/** The waits between attempts begin with the first, and double up to the longest. */
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 15_000

/** The wait after a 429 without `Retry-After`. */
const DEFAULT_WAIT_MS = 5_000

/**
 * Creates an exchange that obeys `Retry-After` and repeats failures for `retryFor` seconds with growing waits. A 429
 * is not a failure, and its wait holds for all requests.
 */
export function createExchange(retryFor: number, note: (text: string) => void): Exchange {
  let resumeAt = 0
  return async (url, request) => {
    let end = Date.now() + retryFor * 1000
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      while (Date.now() < resumeAt) await sleep(resumeAt - Date.now())
      const answer = await fetchOnce(url, request).catch((error: Error) => error)
      if ('status' in answer) {
        const { status, headers } = answer
        if (status !== 429 && status < 500) return answer
        const asked = parseRetryAfter(headers.get('Retry-After'))
        resumeAt = Math.max(
          resumeAt,
          Date.now() + (asked ?? (status === 429 ? DEFAULT_WAIT_MS : 0)),
        )
        if (status === 429) {
          note(`the service asks to wait until ${new Date(resumeAt).toLocaleTimeString()}`)
          end = resumeAt + retryFor * 1000
          continue
        }
      }
      const reason = 'status' in answer ? `the service answers ${answer.status}` : answer.message
      const left = end - Date.now()
      if (left <= 0) throw new ExitError(1, `Gave up after ${retryFor} s: ${reason}.`)
      note(`${reason}; retrying`)
      await sleep(Math.min(left, wait * (1 + Math.random())))
    }
  }
}

/** What the body of a successful response is. */
export type BodyForm = 'json' | 'text' | 'bytes'

/**
 * Sends a request once. The message of an error says in a few words why there is no response.
 *
 * @param form What the body of a successful response is: JSON that is parsed, a text, or bytes.
 */
export async function fetchOnce(
  url: string,
  request: RequestInit,
  form: BodyForm = 'json',
): Promise<ApiResponse> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    // Following a redirect would send the secret to another address.
    const response = await fetch(url, { ...request, redirect: 'manual', signal })
    const { status, headers } = response
    if (form === 'bytes' && response.ok) return { status, headers, body: await response.bytes() }
    const text = await response.text()
    if (form === 'text' && response.ok) return { status, headers, body: text }
    return { status, headers, body: parseBody(text, response.ok && status !== 204) }
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error })
  }
}

function parseBody(text: string, required: boolean): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (required) throw new Error('the response is not JSON', { cause: error })
    return undefined
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error
  if (name === 'TimeoutError') return `no response within ${TIMEOUT_MS / 1000} s`
  const code = (cause as NodeJS.ErrnoException | undefined)?.code
  return code ? `the service cannot be reached (${code})` : message
}

/**
 * Returns the wait of a `Retry-After` in milliseconds, or null if it has none.
 *
 * @see [RFC 9110 §10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3) seconds or a date
 */
export function parseRetryAfter(header: string | null): number | null {
  if (header === null) return null
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(wait) ? null : Math.max(0, wait)
}
