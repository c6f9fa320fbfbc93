import { unavailable } from '../errors.ts'

/** Faults of D1 that a retry cures, as its documentation words them: the only place that names them. */
const CURABLE = [
  'Network connection lost',
  "Can't read from request stream because client disconnected",
  'storage caused object to be reset',
  'reset because its code was updated',
  'Cannot resolve D1 DB due to transient issue',
  'Internal error while starting up D1 DB storage',
]

/** Faults that another try would only make worse. */
const OVERLOAD = [
  'overloaded',
  'queued for too long',
  'exceeded its CPU time',
  'exceeded its memory',
  'operation exceeded timeout',
  'Exceeded maximum DB size',
]

const TRIES = 3

/** What is said by an error, or by the one that it wraps. */
function says(error: unknown, texts: string[]): boolean {
  if (!(error instanceof Error)) return false
  return texts.some((text) => error.message.includes(text)) || says(error.cause, texts)
}

/**
 * Runs what asks D1, again where a retry cures the fault, at most three times in all. Safe only
 * for what may take effect twice: every write here is idempotent, and is told which try it is.
 *
 * @throws ApiError `unavailable` where D1 is gone or overloaded.
 */
export async function tried<T>(ask: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask(attempt)
    } catch (error) {
      if (says(error, OVERLOAD)) throw unavailable(error, 10)
      if (!says(error, CURABLE)) throw error
      if (attempt === TRIES) throw unavailable(error)
      await scheduler.wait(Math.random() * 50 * 2 ** attempt)
    }
  }
}
