import { ApiError } from '../errors.ts'
import type { FieldError } from './page.ts'

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

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)

/** Returns the errors of an error of the administration API, as a form shows them. */
export function readErrors({ details }: ApiError): FieldError[] {
  return (details.errors ?? []).map((error) => {
    const { pointer, message, hint }: { pointer?: unknown; message?: unknown; hint?: unknown } =
      error
    return {
      message: textOf(message) ?? '',
      ...(typeof pointer === 'string' && { pointer }),
      ...(typeof hint === 'string' && { hint }),
    }
  })
}
