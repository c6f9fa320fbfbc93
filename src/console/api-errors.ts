import { ApiError } from '../errors.ts'

const nullIf =
  (code: ApiError['code']) =>
  (error: unknown): null => {
    if (error instanceof ApiError && error.code === code) return null
    throw error
  }

/** Returns null for the error `not_found` of the administration API, and throws any other error. */
export const nullIfNotFound = nullIf('not_found')

/**
 * Returns null for the error `conflict` of the administration API, and throws any other error. Partners get
 * it for what only brands have, and brands for what only partners have.
 */
export const nullIfConflict = nullIf('conflict')
