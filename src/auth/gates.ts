import { retried, type Verdict } from '../retry.ts'

/** What Cloudflare says of a failed call to an object, beside its message. */
interface ObjectFault {
  retryable?: boolean
  overloaded?: boolean
  remote?: boolean
}

function verdictOf(error: unknown): Verdict {
  const { retryable, overloaded, remote } = error as ObjectFault
  // What the object itself threw is a bug of ours; all else is the platform's.
  if (remote) return 'bug'
  return retryable && !overloaded ? 'again' : 'later'
}

/** Asks a Durable Object, each time by a new stub: after a fault the old one is broken. */
export const asked = <T>(ask: () => Promise<T>): Promise<T> => retried(ask, verdictOf)
