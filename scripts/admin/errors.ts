import { escapeText } from '../../src/platform/validation/quote.ts'
import { ExitError } from '../exit-error.ts'
import type { ApiResponse } from '../push/exchange.ts'
import { type Issue, problemOf } from '../push/problem.ts'

/** An unsuccessful response of the API. */
export class ApiError extends ExitError {
  readonly response: ApiResponse

  constructor(response: ApiResponse, notes: readonly string[] = []) {
    super(1, [...describe(response), ...notes].join('\n'))
    this.response = response
  }

  /** The members of the response body. */
  get problem() {
    return problemOf(this.response.body)
  }
}

/** A request without a readable response. */
export class NoResponseError extends ExitError {
  constructor(error: Error) {
    super(1, `${error.message}.`, error)
  }
}

/** Errors of connections that were never established, so that no request was sent. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']

/** Returns whether a failed request may have taken effect. */
export function mayHaveTakenEffect(error: unknown): boolean {
  if (error instanceof ApiError) return error.response.status >= 500
  if (!(error instanceof NoResponseError)) return false
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (NOT_CONNECTED.includes((cause as NodeJS.ErrnoException).code ?? '')) return false
  }
  return true
}

/** `/header/USD`, and `/rows/0/USD` or `/0/USD` for the second line. */
const PLACE = /^\/(?:header|(?:rows\/)?(\d+))(?:\/(.*))?$/

/** Replaces the places of errors in a request by the lines of its CSV file. */
export function withLines(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  const errors = error.problem.errors?.map(({ pointer, ...rest }) => {
    const [match, index = -1, member = ''] = PLACE.exec(pointer) ?? []
    return { ...rest, pointer: match ? `line ${Number(index) + 2} ${member}`.trim() : pointer }
  })
  return new ApiError({ ...error.response, body: { ...error.problem, errors } })
}

/** Returns the problem, each error, and the request id for questions to the service's operators. */
function describe({ status, headers, body }: ApiResponse): string[] {
  const { title, detail, errors = [], errors_total = errors.length, request_id } = problemOf(body)
  // A problem without details repeats its title.
  const parts = [title, detail === `${title}.` ? undefined : detail].filter((part) => part)
  const unlisted = errors_total - errors.length
  const id = request_id ?? headers.get('x-request-id')
  const wait = headers.get('Retry-After')
  return [
    `${status} ${parts.join(' – ') || 'The response does not come from Tributary.'}`,
    ...errors.map(issueLine),
    ...(unlisted > 0 ? [`  … and ${unlisted} more`] : []),
    ...(wait ? [`  retry after: ${wait}`] : []),
    ...(id ? [`  request id: ${id}`] : []),
  ].map(escapeText)
}

/** Returns the line of an error: its place, its message and its hint. */
export const issueLine = ({ pointer, message, hint }: Issue) =>
  `  ${[pointer || '(the whole body)', message, hint].filter((part) => part).join('  ')}`
