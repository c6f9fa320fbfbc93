import { unavailable } from './errors.ts'

/** What a fault of the platform asks for: another try, patience, or our attention: it is a bug. */
export type FaultKind = 'again' | 'later' | 'bug'

const MAX_ATTEMPTS = 3

/** Seconds until the caller may try again where it was a moment's fault; when overloaded it is later. */
const RETRY_SOON_SECONDS = 2

/**
 * Asks the platform, again where that cures the fault, at most three times in all. Safe only for
 * what may take effect twice: every write here is idempotent, and is told which try it is.
 *
 * @throws ApiError `unavailable` where what is asked is gone or overloaded.
 */
export async function withRetry<T>(
  ask: (attempt: number) => Promise<T>,
  verdictOf: (error: unknown, attempt: number) => FaultKind,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask(attempt)
    } catch (error) {
      const verdict = verdictOf(error, attempt)
      if (verdict === 'bug') throw error
      if (verdict === 'later') throw unavailable(error)
      if (attempt === MAX_ATTEMPTS) throw unavailable(error, RETRY_SOON_SECONDS)
      await scheduler.wait(Math.random() * 50 * 2 ** attempt)
    }
  }
}
