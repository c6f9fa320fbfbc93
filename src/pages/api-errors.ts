import { ApiError } from '../platform/errors.ts'
import type { Issue } from '../platform/validation/issue.ts'
import type { FieldError } from './page.ts'
import { issueWords, plainWords } from './parts/plain-words.ts'

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

/** The most errors that a page shows. */
const MAX_SHOWN = 1000

/** Returns the errors of an error of the administration API, as a form shows them. */
export const readErrors = ({ issues, details }: ApiError): FieldError[] =>
  issues.length > 0
    ? (issues as readonly Issue[]).slice(0, MAX_SHOWN).map((issue) => issueWords(issue))
    : ((details.errors ?? []) as readonly FieldError[]).map((one) => ({
        ...one,
        message: plainWords(one.message),
        ...(one.hint && { hint: plainWords(one.hint) }),
      }))
