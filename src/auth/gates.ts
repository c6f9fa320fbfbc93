import { unavailable } from '../errors.ts'

/** What Cloudflare says of a failed call to an object, beside its message. */
interface ObjectFault {
  retryable?: boolean
  overloaded?: boolean
  remote?: boolean
}

const TRIES = 3

/**
 * Asks a Durable Object, again with a new stub where a retry cures the fault, three times at most.
 *
 * @throws ApiError `unavailable` where the object is gone or overloaded: never a 401.
 */
export async function asked<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      const { retryable, overloaded, remote } = error as ObjectFault
      if (remote) throw error
      if (overloaded || !retryable || attempt === TRIES) throw unavailable(error)
      await scheduler.wait(Math.random() * 50 * 2 ** attempt)
    }
  }
}
