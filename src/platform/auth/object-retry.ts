import { type FaultKind, withRetry } from '../retry.ts'

/** The properties that Cloudflare sets on the error of a failed call to a Durable Object. */
interface ObjectFault {
  retryable?: unknown
  overloaded?: unknown
  remote?: unknown
}

/**
 * Classifies a failed call. An object that was aborted fails as if its own code had thrown
 * (`remote`), and the next call starts it anew. If it throws again, the cause is a bug in the object's
 * code.
 */
function classify(error: unknown, attempt: number): FaultKind {
  const { retryable, overloaded, remote }: ObjectFault = Object(error)
  if (remote) return attempt === 1 ? 'retry' : 'rethrow'
  return retryable && !overloaded ? 'retry' : 'unavailable'
}

/**
 * Calls a Durable Object, with retries. `call` must create a new stub each time, because a stub stays
 * broken after a fault.
 *
 * Two calls are not idempotent: `admit` and `attempt`. If a response is lost, they may count
 * one request up to three times.
 *
 * @throws ApiError `unavailable`
 */
export const withObjectRetry = <T>(call: () => Promise<T>): Promise<T> => withRetry(call, classify)
