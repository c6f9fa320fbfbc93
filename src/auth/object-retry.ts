import { type FaultKind, withRetry } from '../retry.ts'

/** What Cloudflare says of a failed call to an object, beside its message. */
interface ObjectFault {
  retryable?: boolean
  overloaded?: boolean
  remote?: boolean
}

function verdictOf(error: unknown, attempt: number): FaultKind {
  const { retryable, overloaded, remote } = error as ObjectFault
  // An object that is aborted says so as if it had thrown itself, and another try finds it well;
  // what it throws each time is a bug of ours. All else is the platform's.
  if (remote) return attempt === 1 ? 'again' : 'bug'
  return retryable && !overloaded ? 'again' : 'later'
}

/** Asks a Durable Object, each time by a new stub: after a fault the old one is broken. */
export const withObjectRetry = <T>(ask: () => Promise<T>): Promise<T> => withRetry(ask, verdictOf)
