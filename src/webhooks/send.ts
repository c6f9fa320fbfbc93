import { retryAfter } from './backoff.ts'
import { urlProblem } from './check-url.ts'
import { WEBHOOK_LIMITS } from './limits.ts'
import { signMessage } from './secrets.ts'

/** An event as it is sent. */
export interface OutgoingEvent {
  readonly id: string
  readonly type: string
  /** When it was caused, in milliseconds. */
  readonly at: number
  /** The data as JSON. */
  readonly data: string
}

/** Why an attempt failed. */
export type AttemptError =
  | 'timeout'
  | 'connection_failed'
  | 'redirect'
  | 'http_status'
  | 'url_not_allowed'
  | 'no_secret'

/** The result of an attempt. */
export interface AttemptResult {
  /** The status of the response; null without one. */
  readonly status: number | null
  /** Null after a success. */
  readonly error: AttemptError | null
  /** How long it took, in milliseconds. */
  readonly ms: number
  /** How long the receiver asks to wait before the next attempt, in milliseconds; 0 if it does not. */
  readonly waitMs: number
}

/** Returns the body of an event. */
export const bodyOf = ({ type, at, data }: OutgoingEvent): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${new Date(at).toISOString()}","data":${data}}`

/**
 * Sends an event once, signed with each of `secrets`. Redirects are not followed, because they could lead
 * to an address that is not allowed. The body of the response is not read.
 */
export async function sendEvent(
  env: Env,
  url: string,
  secrets: readonly string[],
  event: OutgoingEvent,
): Promise<AttemptResult> {
  const started = Date.now()
  const end = (status: number | null, error: AttemptError | null, waitMs = 0): AttemptResult => {
    return { status, error, ms: Date.now() - started, waitMs }
  }
  if (urlProblem(url, env) !== null) return end(null, 'url_not_allowed')
  if (secrets.length === 0) return end(null, 'no_secret')
  const timestamp = Math.floor(started / 1000)
  const body = bodyOf(event)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Tributary-Webhooks/1',
        'webhook-id': event.id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': await signMessage(secrets, { id: event.id, timestamp, body }),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(WEBHOOK_LIMITS.attemptMs),
    })
    response.body?.cancel().catch(() => {})
    const waitMs = retryAfter(response.headers.get('Retry-After'), Date.now())
    return end(response.status, errorOf(response.status), waitMs)
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'TimeoutError'
    return end(null, isTimeout ? 'timeout' : 'connection_failed')
  }
}

function errorOf(status: number): AttemptError | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : 'http_status'
}
