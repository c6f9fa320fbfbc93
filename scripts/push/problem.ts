import { ExitError } from '../exit-error.ts'
import type { ApiResponse } from './exchange.ts'

/** An error or a warning about a record, as the API reports it. */
export interface Issue {
  code: string
  pointer: string
  message: string
  hint?: string
}

/** An error of a problem response. */
export interface ProblemIssue extends Issue {
  /** The index of the record in the bulk; undefined: the error is about the whole bulk. */
  index?: number
  key?: object
}

/** The body of an error response: problem+json, or an error of RFC 6749. */
export interface Problem {
  title?: string
  detail?: string
  hint?: string
  code?: string
  errors?: ProblemIssue[]
  errors_total?: number
  request_id?: string
  error?: string
  error_description?: string
}

/** Creates the error for a response that every further request would receive as well. */
export function requestError(summary: string, { status, body }: ApiResponse): ExitError {
  const { title, detail, hint, errors, error, error_description } = problemOf(body)
  const parts = [title ?? error, detail ?? error_description, hint ?? errors?.[0]?.hint]
  const sentence = parts.filter((part) => part !== undefined).join(' – ')
  return new ExitError(1, `${summary}: ${status}${sentence && ` ${sentence}`}`)
}

/** Returns the members of an error response; the page of a proxy has none. */
export const problemOf = (body: unknown): Problem =>
  typeof body === 'object' && body !== null ? body : {}
