import { type FaultKind, withRetry } from '../retry.ts'
import { ABORTED } from './sql-fragments.ts'

/** The messages of D1 faults that a retry cures, as its documentation words them. */
const RETRYABLE = [
  'Network connection lost',
  "Can't read from request stream because client disconnected",
  'storage caused object to be reset',
  'reset because its code was updated',
  'Cannot resolve D1 DB due to transient issue',
  'Internal error while starting up D1 DB storage',
]

/** The messages of D1 faults that another attempt would make worse. */
const OVERLOAD = [
  'overloaded',
  'queued for too long',
  'exceeded its CPU time',
  'exceeded its memory',
  'operation exceeded timeout',
]

/** The message of a write that would make a database larger than D1 allows: 10 GB. */
const FULL = 'Exceeded maximum DB size'

/** Whether the message of an error, or of its cause, includes one of the texts. */
function messageIncludes(error: unknown, texts: string[]): boolean {
  if (!(error instanceof Error)) return false
  return texts.some((text) => error.message.includes(text)) || messageIncludes(error.cause, texts)
}

/** Whether a database has failed, and not the statement. */
export const isDatabaseFault = (error: unknown) =>
  messageIncludes(error, [FULL, ...OVERLOAD, ...RETRYABLE])

/** Whether a statement failed because it inserts a row that exists. */
export const isUniqueViolation = (error: unknown) =>
  messageIncludes(error, ['UNIQUE constraint failed'])

/** Whether a statement failed because a value would have more than 2 MB, the most that D1 returns. */
export const isTooLong = (error: unknown) => messageIncludes(error, ['string or blob too big'])

/** Whether a guard has aborted a batch; with a reason, whether it is the guard that gives this one. */
export const isAssertionFailure = (error: unknown, reason = '') =>
  messageIncludes(error, [`${ABORTED}${reason}`])

/** The message of a write of an account that moves to another database, or has moved. */
export const MOVING = 'account_is_moving'

/** Whether a write failed because its account moves to another database, or has moved. */
export const isMoving = (error: unknown) => messageIncludes(error, [MOVING])

/** The message for a missing table, column or index: the Worker was deployed before its migration. */
const UNMIGRATED = /no such (?:table|column|index): [\w.]+|table \w+ has no column named \w+/

/** Returns what a database lacks because the Worker was deployed before its migration; null if nothing. */
function findMissing(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  return UNMIGRATED.exec(error.message)?.[0] ?? findMissing(error.cause)
}

/** The code of SQLite at the end of the message of a fault. */
const SQLITE_CODE = /\bSQLITE_[A-Z_]+\b/g

/**
 * Returns what D1 says about a fault, for the log: a known part of its message, or the code of SQLite. Null if it says
 * neither: the rest of the message may quote a row.
 */
export function d1Fault(thrown: unknown): string | null {
  if (!(thrown instanceof Error)) return null
  const { message, cause } = thrown
  const known = [FULL, ...OVERLOAD, ...RETRYABLE].find((text) => message.includes(text))
  return (
    known ?? UNMIGRATED.exec(message)?.[0] ?? message.match(SQLITE_CODE)?.at(-1) ?? d1Fault(cause)
  )
}

function classifyFault(error: unknown): FaultKind {
  if (messageIncludes(error, [FULL])) {
    // No other line tells it from a database that is unavailable.
    console.error(JSON.stringify({ fault: 'database_full' }))
    return 'unavailable'
  }
  if (messageIncludes(error, OVERLOAD)) return 'unavailable'
  if (messageIncludes(error, RETRYABLE)) return 'retry'
  if (isMoving(error)) return 'moving'
  const missing = findMissing(error)
  if (missing === null) return 'rethrow'
  console.error(JSON.stringify({ fault: 'unmigrated', missing }))
  return 'unavailable'
}

/**
 * Calls D1, and again if a retry cures the fault. Every write is idempotent, so an attempt that was
 * committed and whose response was lost does no harm.
 *
 * @throws ApiError `unavailable` if the fault lasts, if D1 is overloaded, if the account moves, or if a migration
 *   is missing.
 */
export const withD1Retry = <T>(call: (attempt: number) => Promise<T>): Promise<T> =>
  withRetry(call, classifyFault)
