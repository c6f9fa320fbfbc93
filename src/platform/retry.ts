import { moving, unavailable } from './errors.ts'

/**
 * How to handle a fault: retry the call, respond with 503, or rethrow an error that is a bug in this
 * service. `moving`: respond with 503 while the account moves.
 */
export type FaultKind = 'retry' | 'unavailable' | 'moving' | 'rethrow'

const MAX_ATTEMPTS = 3

/** The `Retry-After` once all attempts failed, in seconds. An overloaded service asks for more. */
const RETRY_SOON_SECONDS = 2

/**
 * Calls the platform, at most three times in all. The call may take effect although it fails, so it
 * should be idempotent; it receives its attempt number, from 1. Two calls are not: `admit` and
 * `attempt` may count one request up to three times.
 *
 * @throws ApiError `unavailable` if the attempts are used up or `classify` returns `unavailable`.
 */
export async function withRetry<T>(
  call: (attempt: number) => Promise<T>,
  classify: (error: unknown, attempt: number) => FaultKind,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(attempt)
    } catch (error) {
      const kind = classify(error, attempt)
      if (kind === 'rethrow') throw error
      if (kind === 'unavailable') throw unavailable(error)
      if (kind === 'moving') throw moving(error)
      if (attempt === MAX_ATTEMPTS) throw unavailable(error, RETRY_SOON_SECONDS)
      await scheduler.wait(Math.random() * 50 * 2 ** attempt)
    }
  }
}
