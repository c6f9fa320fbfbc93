import type { Context, ErrorHandler } from 'hono'

/**
 * The status and title of every error code.
 *
 * @see [RFC 6749 §5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2) token endpoint errors
 * @see [RFC 6750 §3.1](https://www.rfc-editor.org/rfc/rfc6750#section-3.1) bearer token errors
 */
export const PROBLEMS = {
  invalid_request: [400, 'Invalid request'],
  invalid_scope: [400, 'Invalid scope'],
  unsupported_grant_type: [400, 'Unsupported grant type'],
  malformed_json: [400, 'The body is not valid JSON'],
  invalid_query: [400, 'Invalid query parameter'],
  missing_credentials: [401, 'Credentials are required'],
  invalid_client: [401, 'Unknown client or wrong secret'],
  invalid_token: [401, 'The access token is invalid, expired or revoked'],
  invalid_api_key: [401, 'The Brand Token is missing or invalid'],
  invalid_affiliate_key: [401, 'The affiliate key is missing or invalid'],
  invalid_admin: [401, 'Administrator credentials are missing or invalid'],
  https_required: [403, 'HTTPS is required'],
  insufficient_scope: [403, 'The access token lacks the required scope'],
  insufficient_role: [403, 'Your role does not allow this'],
  affiliate_suspended: [403, 'The affiliate is suspended'],
  quota_exceeded: [403, 'The storage quota is exceeded'],
  wrong_vertical: [403, 'The access token is for another vertical'],
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'Method not allowed'],
  already_exists: [409, 'Already exists'],
  conflict: [409, 'The request conflicts with the current state'],
  newer_version: [409, 'A newer version is stored'],
  hash_changed: [409, 'The draft has changed'],
  period_not_over: [409, 'The period is not over'],
  not_run: [409, 'The period has not been computed since it ended or changed'],
  earlier_not_approved: [409, 'An earlier statement is not approved'],
  stale: [409, 'The draft is outdated'],
  holds: [409, 'Records wait for a rate or a currency'],
  reference_used: [409, 'The reference was used for something else'],
  not_open: [409, 'The case is not open'],
  evidence_changed: [409, 'The evidence of the case has changed'],
  same_person: [409, 'Another person must do this'],
  last_approver: [409, 'Too few approvers would be left'],
  payload_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'Unsupported media type'],
  validation_failed: [422, 'Validation failed'],
  idempotency_key_reused: [422, 'The Idempotency-Key was used for different records'],
  rate_limited: [429, 'Too many requests'],
  temporarily_unavailable: [429, 'Too many attempts'],
  internal_error: [500, 'Internal error'],
  unavailable: [503, 'Temporarily unavailable'],
  moving: [503, 'The account is being moved'],
} as const

/** The `code` of an error response. */
export type ErrorCode = keyof typeof PROBLEMS

/** Details of an error response. All text is ours; it never includes personal values. */
export interface ErrorDetails {
  detail?: string
  headers?: Record<string, string>
  delivery_id?: string
  delivery_url?: string
  summary?: object
  errors?: object[]
  errors_total?: number
  cause?: unknown
}

/** An error that the caller sees. Any other thrown value is a bug and becomes a 500. */
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

/** The default `Retry-After` of a 503, in seconds. */
const RETRY_LATER_SECONDS = 10

/** Returns a 503 for a fault that a retry can cure after `seconds`. */
export const unavailable = (cause: unknown, seconds = RETRY_LATER_SECONDS) =>
  new ApiError('unavailable', {
    detail: 'The service is temporarily unavailable. A request is stored completely or not at all.',
    headers: { 'Retry-After': String(seconds) },
    cause,
  })

/** Returns a 503 for a write of an account that moves to another database. */
export const moving = (cause: unknown) =>
  new ApiError('moving', {
    detail:
      'The account is being moved to another database, which takes about a minute for a million records. Nothing of this request was stored.',
    headers: { 'Retry-After': String(RETRY_LATER_SECONDS) },
    cause,
  })

/** Returns a 503 for a secret or a variable that is missing or unusable. The log names it. */
export function badSecret(name: string, cause?: unknown): ApiError {
  console.error(JSON.stringify({ fault: 'bad_secret', secret: name }))
  return unavailable(cause ?? new Error(`The secret ${name} is not set.`))
}

/** Responds to a thrown value with `application/problem+json`. */
export const onError: ErrorHandler = (thrown, c) => problem(c, toApiError(thrown, c))

/** @see [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) Problem Details for HTTP APIs */
function problem(c: Context, { code, status, title, details }: ApiError) {
  const { headers, detail: sent = `${title}.`, ...members } = details
  const seconds = status === 503 && headers?.['Retry-After']
  const detail = seconds ? `${sent} Repeat the same request after ${seconds} seconds.` : sent
  const type = new URL(`/problems/${code}`, c.env.BASE_URL)
  const body = { type, title, status, code, detail, request_id: c.var.requestId, ...members }
  return c.json(body, status, { ...headers, 'Content-Type': 'application/problem+json' })
}

/**
 * Returns the error to send for a thrown value: `internal_error` unless it is an `ApiError`. Logs
 * the cause of every status of 500 and above.
 */
export function toApiError(thrown: unknown, c: Context): ApiError {
  const error =
    thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown })
  if (error.status >= 500) logFault(error.cause ?? error, c)
  return error
}

/** Returns the name of an error for the log. Its message may quote a row and is never logged. */
export const errorName = (thrown: unknown) => (thrown instanceof Error ? thrown.name : 'Error')

/**
 * Returns the error's name and the top of its stack, for the log. The message of a database error quotes the row. Of
 * an error that a caller sees, its cause tells more.
 */
export function describeFault(thrown: unknown): { fault: string; at: string[] | undefined } {
  const error = thrown instanceof ApiError ? (thrown.cause ?? thrown) : thrown
  const { name, stack = '' } = error instanceof Error ? error : new Error()
  return { fault: name, at: stack.match(/^ +at .+/gm)?.slice(0, 5) }
}

function logFault(thrown: unknown, c: Context) {
  const { fault, at } = describeFault(thrown)
  console.error(JSON.stringify({ request_id: c.var.requestId, fault, at }))
}
