import { unavailable } from '../platform/errors.ts'
import { BOOK_LIMITS } from './limits.ts'

/**
 * Decides again, by what the books are then, until nobody else has changed them meanwhile.
 *
 * @param attempt Returns null if another request has changed the books since it read them.
 * @throws ApiError `unavailable` after some attempts.
 */
export async function untilBooked<T>(attempt: () => Promise<T | null>): Promise<T> {
  for (let n = 1; n <= BOOK_LIMITS.attempts; n++) {
    const result = await attempt()
    if (result !== null) return result
  }
  throw unavailable(new Error('Others changed the books in each attempt.'), 1)
}
