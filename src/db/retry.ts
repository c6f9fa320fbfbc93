import { type FaultKind, withRetry } from '../retry.ts'

/** Faults of D1 that a retry cures, as its documentation words them: the only place that names them. */
const RETRYABLE = [
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
function messageIncludes(error: unknown, texts: string[]): boolean {
  if (!(error instanceof Error)) return false
  return texts.some((text) => error.message.includes(text)) || messageIncludes(error.cause, texts)
}

/** Whether a statement failed because what it inserts is there already. */
export const isUniqueViolation = (error: unknown) =>
  messageIncludes(error, ['UNIQUE constraint failed'])

/** Whether a statement failed on purpose: what it found must not be. */
export const isAssertionFailure = (error: unknown) => messageIncludes(error, ['malformed JSON'])

/** What a statement names and is not there: the version that runs came before its migration. */
const UNMIGRATED = /no such (?:table|column): [\w.]+|table \w+ has no column named \w+/

function findMissing(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const [missing] = UNMIGRATED.exec(error.message) ?? []
  if (missing) console.error(JSON.stringify({ fault: 'unmigrated', missing }))
  return missing ?? findMissing(error.cause)
}

const migrationFix = (missing: string) =>
  `The local database lacks a migration (${missing}). Run \`npx wrangler d1 migrations apply DB --local\`.`

function verdictOf(error: unknown): FaultKind {
  if (messageIncludes(error, OVERLOAD)) return 'unavailable'
  if (messageIncludes(error, RETRYABLE)) return 'retry'
  const missing = findMissing(error)
  return missing ? { fix: migrationFix(missing) } : 'rethrow'
}

/** Runs what asks D1, again where a retry cures the fault. */
export const withD1Retry = <T>(ask: (attempt: number) => Promise<T>): Promise<T> =>
  withRetry(ask, verdictOf)
