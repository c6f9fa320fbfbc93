import { ApiError } from '../platform/errors.ts'
import type { FieldError } from './base/page.ts'
import { errorWords } from './parts/plain-words.ts'

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

/** Returns the errors of an error of the administration API, as a form shows them. */
export const readErrors = ({ details }: ApiError): FieldError[] =>
  ((details.errors ?? []) as readonly FieldError[]).map(errorWords)
