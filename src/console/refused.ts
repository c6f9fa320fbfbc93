import type { ApiError } from '../errors.ts'
import type { FieldError, RefusedForm, Values } from './page.ts'

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

/** Returns what a page shows after the administration API refused one of its changes. */
export const refusedBy = (error: ApiError, change: string, values: Values): RefusedForm => ({
  change,
  values,
  detail: error.details.detail ?? `${error.title}.`,
  errors: readErrors(error),
})
