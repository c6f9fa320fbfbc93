import type { Context, ErrorHandler } from 'hono'

/**
 * The whole vocabulary of failure. A code implies its status and title; this is their only table.
 *
 * @see [RFC 6749 §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2) token endpoint errors
 * @see [RFC 6750 §3.1](https://www.rfc-editor.org/rfc/rfc6750#section-3.1) bearer token errors
 */
const PROBLEMS = {
  invalid_request: [400, 'The request cannot be understood'],
  invalid_scope: [400, 'The scope is unknown'],
  unsupported_grant_type: [400, 'The grant type is not supported'],
  malformed_json: [400, 'The body is not JSON'],
  invalid_query: [400, 'The query cannot be understood'],
  missing_credentials: [401, 'Credentials are required'],
  invalid_client: [401, 'The client is unknown, or its secret is wrong'],
  invalid_token: [401, 'The access token is invalid, expired or revoked'],
  invalid_api_key: [401, 'The Brand Token is missing, unknown or ended'],
  invalid_admin: [401, 'The credentials of the integrations team are missing or wrong'],
  https_required: [403, 'HTTPS is required'],
  insufficient_scope: [403, 'The scope of the access token does not allow this'],
  wrong_vertical: [403, 'The access token is for another vertical'],
  not_found: [404, 'No such resource'],
  method_not_allowed: [405, 'The method is not allowed here'],
  already_exists: [409, 'It exists already'],
  conflict: [409, 'This cannot be done here'],
  payload_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'The body has the wrong media type'],
  validation_failed: [422, 'The payload breaks the schema'],
  idempotency_key_reused: [422, 'The Idempotency-Key was used for other records'],
  rate_limited: [429, 'Too many requests'],
  temporarily_unavailable: [429, 'Too many attempts'],
  internal_error: [500, 'Something went wrong on our side'],
  unavailable: [503, 'The service is unavailable for a moment'],
} as const

/** The name of a failure. */
export type ErrorCode = keyof typeof PROBLEMS

/** What a failure may say beyond its code; its sentences are ours, none is the sender's. */
export interface ErrorDetails {
  detail?: string
  headers?: Record<string, string>
  delivery_id?: string
  errors?: object[]
  errors_total?: number
  cause?: unknown
}

/** A failure the caller is meant to read. Anything else that is thrown is a bug, and a 500. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, { cause, ...details }: ErrorDetails = {}) {
    super(code, { cause })
    this.code = code
    this.details = details
  }

  get status() {
    return PROBLEMS[this.code][0]
  }

  get title() {
    return PROBLEMS[this.code][1]
  }
}

/** Seconds until the caller may try again where a moment does not cure it. */
const RETRY_LATER_SECONDS = 10

/** A fault of ours that a retry cures; `seconds` is when to try again. */
export const unavailable = (cause: unknown, seconds = RETRY_LATER_SECONDS) =>
  new ApiError('unavailable', {
    detail: 'Nothing is half done: repeat the same request.',
    headers: { 'Retry-After': String(seconds) },
    cause,
  })

/** Answers whatever was thrown, in the one shape that failures have. */
export const onError: ErrorHandler = (thrown, c) => problem(c, toApiError(thrown, c))

/** @see [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) Problem Details for HTTP APIs */
function problem(c: Context, { code, status, title, details }: ApiError) {
  const { headers, detail = `${title}.`, ...said } = details
  const type = new URL(`/problems/${code}`, c.env.BASE_URL)
  const body = { type, title, status, code, detail, request_id: c.var.requestId, ...said }
  return c.json(body, status, { ...headers, 'Content-Type': 'application/problem+json' })
}

/** The failure a caller may read, of anything thrown; what is a bug is logged here, once. */
export function toApiError(thrown: unknown, c: Context): ApiError {
  const error =
    thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown })
  if (error.status >= 500) log(error.cause, c)
  return error
}

/** What broke, by its name: the message of a database error quotes the row. */
export const errorName = (thrown: unknown) => (thrown instanceof Error ? thrown.name : 'Error')

/** Where it broke and for whom, without the message: a database error quotes the row. */
function log(thrown: unknown, c: Context) {
  const { name, stack = '' } = thrown instanceof Error ? thrown : new Error()
  const at = stack.match(/^ +at .+/gm)?.slice(0, 5)
  console.error(JSON.stringify({ request_id: c.var.requestId, fault: name, at }))
}
