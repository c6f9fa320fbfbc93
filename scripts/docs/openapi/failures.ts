import { OAUTH_CODE_BY_STATUS } from '../../../src/platform/auth/oauth-codes.ts'
import { ORIGIN } from '../../../src/platform/documents/origin.ts'
import { ApiError, type ErrorCode } from '../../../src/platform/errors.ts'
import { recordedWith } from '../examples.ts'
import { EXPLAINED } from '../explained.ts'
import type { JsonSchema } from '../types.ts'
import { type CallerKind, type Operation, ref } from './operation.ts'

/** The errors that every operation of a caller can return. */
const COMMON: Record<CallerKind, readonly ErrorCode[]> = {
  anyone: [],
  partner: [
    'missing_credentials',
    'invalid_token',
    'https_required',
    'insufficient_scope',
    'wrong_vertical',
    'rate_limited',
    'internal_error',
    'unavailable',
    'moving',
  ],
  brand: [
    'invalid_api_key',
    'https_required',
    'rate_limited',
    'internal_error',
    'unavailable',
    'moving',
  ],
  affiliate: [
    'missing_credentials',
    'invalid_affiliate_key',
    'https_required',
    'insufficient_scope',
    'affiliate_suspended',
    'rate_limited',
    'internal_error',
    'unavailable',
    'moving',
  ],
  team: [
    'invalid_admin',
    'https_required',
    'insufficient_role',
    'internal_error',
    'unavailable',
    'moving',
  ],
}

/** The callers whose requests have a limit. */
export const RATE_LIMITED: readonly CallerKind[] = ['partner', 'brand', 'affiliate']

/** A response as OpenAPI describes it. */
export interface ResponseObject {
  description: string
  headers: Record<string, object>
  content?: Record<string, { schema: JsonSchema; examples?: Record<string, object> }>
}

const REQUEST_ID = 'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11'

/** Details of problems that no recorded example has. */
const DETAILS: Partial<Record<ErrorCode, string>> = {
  rate_limited: 'The limit is 1000 requests per minute. Retry after 7 seconds.',
  invalid_query: '`dryrun` is not a parameter of this endpoint. Did you mean `dry_run`?',
  quota_exceeded:
    'The account stores an estimated 4302000000 bytes; its storage quota is 4294967296 bytes. Nothing was stored. The account is now measured: repeat the request after 60 seconds. If it is still refused, ask the integrations team for a larger quota. Reading still works.',
  insufficient_role: 'This needs the role `approver`. Your role is `manager`.',
  malformed_json: 'The body is not valid JSON at position 41 (line 1 column 42).',
  unavailable:
    'The service is temporarily unavailable. A request is stored completely or not at all. Repeat the same request after 10 seconds.',
  moving:
    'The account is being moved to another database, which takes about a minute for a million records. Nothing of this request was stored. Repeat the same request after 10 seconds.',
}

/** Returns a problem with the code: a recorded one, or one that is composed from its title. */
function problemWith(code: ErrorCode): object {
  const { status, title } = new ApiError(code)
  return (
    recordedWith(code) ?? {
      type: `${ORIGIN}/problems/${code}`,
      title,
      status,
      code,
      detail: DETAILS[code] ?? `${title}.`,
      request_id: REQUEST_ID,
    }
  )
}

/** Returns the OAuth error for a code, as RFC 6749 §5.2 names it. */
const oauthErrorWith = (code: ErrorCode) => {
  const { status, title } = new ApiError(code)
  return { error: OAUTH_CODE_BY_STATUS[status] ?? code, error_description: `${title}.` }
}

const headersOf = (status: number, operation: Operation): string[] => [
  ...COMMON_HEADERS,
  ...(status === 401 || (status === 403 && ['partner', 'affiliate'].includes(operation.caller))
    ? ['WWW-Authenticate']
    : []),
  ...(status === 415 ? ['Accept-Encoding'] : []),
  ...(status === 422 ? ['Preference-Applied'] : []),
  ...(status === 429 || status === 503 ? ['Retry-After'] : []),
  ...(RATE_LIMITED.includes(operation.caller) && status !== 401
    ? ['RateLimit', 'RateLimit-Policy']
    : []),
  ...(isNeverCached(operation) ? NO_CACHE_HEADERS : []),
]

/** Partners and brands share their error responses, which have the headers of the rate limit. */
const callerGroup = ({ caller }: Operation) =>
  RATE_LIMITED.includes(caller) && caller !== 'affiliate' ? 'token' : caller

/** The headers of every response. */
export const COMMON_HEADERS = [
  'X-Request-Id',
  'X-Content-Type-Options',
  'Strict-Transport-Security',
]

/** The headers that forbid caching. */
export const NO_CACHE_HEADERS = ['Cache-Control', 'Pragma']

/** Whether the responses of an operation must not be cached. */
export const isNeverCached = ({ caller }: Operation) =>
  ['team', 'affiliate', 'anyone'].includes(caller)

/** Refers to headers by name. */
export const headerRefs = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

function problemContent(status: number, codes: readonly ErrorCode[]) {
  const schema = {
    allOf: [
      ref('Problem'),
      {
        type: 'object',
        properties: { status: { const: status }, code: { type: 'string', enum: codes } },
      },
    ],
  }
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])
  const content = { schema, examples: Object.fromEntries(examples) }
  return { 'application/problem+json': content }
}

function oauthContent(codes: readonly ErrorCode[]) {
  const examples = codes.map((code) => [code, { value: oauthErrorWith(code) }])
  const content = { schema: ref('OAuthError'), examples: Object.fromEntries(examples) }
  return { 'application/json': content }
}

function failure(
  status: number,
  codes: readonly ErrorCode[],
  operation: Operation,
): ResponseObject {
  const description = codes
    .map((code) => `\`${code}\`: ${EXPLAINED.problem[code]?.[1]}`)
    .join('\n\n')
  const response = { description, headers: headerRefs(headersOf(status, operation)) }
  if (operation.caller === 'anyone') return { ...response, content: oauthContent(codes) }
  return { ...response, content: problemContent(status, codes) }
}

/** An example of each problem, by code. */
export const PROBLEMS: Record<string, { summary: string; value: object }> = Object.fromEntries(
  (Object.keys(EXPLAINED.problem) as ErrorCode[]).map((code) => [
    code,
    { summary: new ApiError(code).title, value: problemWith(code) },
  ]),
)

/**
 * Describes the errors of an operation by status. Equal responses of several operations are
 * described once: they are added to `shared` by name.
 */
export function failures(operation: Operation, shared: Record<string, ResponseObject>) {
  const codes = [...new Set([...COMMON[operation.caller], ...operation.errors])]
  const byStatus = Map.groupBy(codes, (code) => new ApiError(code).status)
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, group]) => {
        const name = [...group, callerGroup(operation)].join('.')
        shared[name] ??= failure(status, group, operation)
        return [String(status), { $ref: `#/components/responses/${name}` }]
      }),
  )
}
