import { retried, type Verdict } from '../retry.ts'

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

/** What is said by an error, or by the one that it wraps. */
function says(error: unknown, texts: string[]): boolean {
  if (!(error instanceof Error)) return false
  return texts.some((text) => error.message.includes(text)) || says(error.cause, texts)
}

/** Whether a statement failed because what it inserts is there already. */
export const isTaken = (error: unknown) => says(error, ['UNIQUE constraint failed'])

/** Whether a statement failed on purpose: what it found must not be. */
export const isForbidden = (error: unknown) => says(error, ['malformed JSON'])

function verdictOf(error: unknown): Verdict {
  if (says(error, OVERLOAD)) return 'later'
  return says(error, CURABLE) ? 'again' : 'bug'
}

/** Runs what asks D1, again where a retry cures the fault. */
export const tried = <T>(ask: (attempt: number) => Promise<T>): Promise<T> =>
  retried(ask, verdictOf)
