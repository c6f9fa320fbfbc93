// SQL that all rooms write.

/**
 * The function that turns a JSON array into rows. The binary form reads each column without parsing
 * the record again: inserts and updates are a fifth faster, replays two thirds. `npm run deploy`
 * asks the remote database whether it has the function.
 */
export const JSON_EACH = 'jsonb_each'

/** What the message of a batch that a guard has aborted begins with, before the reason. */
export const ABORTED = 'abort: '

/**
 * Returns the SQL by which a guard aborts its batch. D1 has no RAISE outside triggers: it reads a path that JSON does
 * not have. See `isAssertionFailure`.
 */
export const abortAs = (reason: string) => `json_extract('{}', '${ABORTED}${reason}')`

/** Aborts a batch whose decision no longer holds. */
export const ABORT = abortAs('changed meanwhile')

/** Returns a comma-separated list of names, or of the SQL that `toSql` makes of each. */
export const columnList = (names: readonly string[], toSql = (name: string) => name) =>
  names.map(toSql).join(', ')

/** Returns a row value, so that several columns compare as one. */
export const rowValue = (names: readonly string[], toSql: (name: string) => string) =>
  `(${columnList(names, toSql)})`
