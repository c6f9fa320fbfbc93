import { OAUTH_CODE_BY_STATUS } from '../../../src/auth/oauth-codes.ts'
import { ORIGIN } from '../../../src/docs/origin.ts'
import { ApiError, type ErrorCode } from '../../../src/errors.ts'
import { recordedWith } from '../examples.ts'
import { PROBLEM } from '../explained/problems.ts'
import type { JsonSchema } from '../types.ts'
import { type Operation, ref, type Who } from './operation.ts'

/** How any request may fail, by who makes it. */
const IMPLIED: Record<Who, readonly ErrorCode[]> = {
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
  ],
  brand: ['invalid_api_key', 'https_required', 'rate_limited', 'internal_error', 'unavailable'],
  team: ['invalid_admin', 'https_required', 'internal_error', 'unavailable'],
}

/** An answer, as OpenAPI has it. */
export interface Described {
  description: string
  headers: Record<string, object>
  content?: Record<string, { schema: JsonSchema; examples?: Record<string, object> }>
}

const AN_ID = 'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11'

/** What a problem looks like: as a test was answered it, or as it would be. */
function problemOf(code: ErrorCode): object {
  const { status, title } = new ApiError(code)
  return (
    recordedWith(code) ?? {
      type: `${ORIGIN}/problems/${code}`,
      title,
      status,
      code,
      detail: `${title}.`,
      request_id: AN_ID,
      ...MORE[code],
    }
  )
}

/** What some problems that no example meets say beside their code. */
const MORE: Partial<Record<ErrorCode, object>> = {
  rate_limited: { detail: '1000 requests a minute are allowed. Try again in 7 s.' },
  invalid_query: { detail: 'There is no parameter "dryrun"; did you mean dry_run?' },
  malformed_json: { detail: 'The body is not JSON from character 42 on.' },
  unavailable: { detail: 'Nothing is half done: repeat the same request.' },
}

/** The words of RFC 6749 for a code. */
const asOauth = (code: ErrorCode) => {
  const { status, title } = new ApiError(code)
  const error = OAUTH_CODE_BY_STATUS[status] ?? code
  return { error, error_description: `${title}.` }
}

const headersOf = (status: number, operation: Operation): string[] => [
  ...ALWAYS,
  ...(status === 401 || (status === 403 && operation.who === 'partner')
    ? ['WWW-Authenticate']
    : []),
  ...(status === 415 ? ['Accept-Encoding'] : []),
  ...(status === 422 ? ['Preference-Applied'] : []),
  ...(status === 429 || status === 503 ? ['Retry-After'] : []),
  ...(callers(operation) === 'token' && status !== 401 ? ['RateLimit', 'RateLimit-Policy'] : []),
  ...(callers(operation) === 'anyone' ? [] : ['x-d1-bookmark']),
  ...(isUnkept(operation) ? UNKEPT : []),
  ...(isPaged(operation, status) ? ['Content-Security-Policy', 'Referrer-Policy'] : []),
]

/** What each caller is told beside the rest: how many requests are left, or to keep nothing. */
const callers = ({ who }: Operation) => (who === 'partner' || who === 'brand' ? 'token' : who)

/** Whether who reads with a browser is told in a page. */
const isPaged = ({ tag, failsAs }: Operation, status: number) =>
  failsAs === 'page' || (tag === 'documents' && status === 404)

/** What every answer has. */
export const ALWAYS = ['X-Request-Id', 'X-Content-Type-Options', 'Strict-Transport-Security']

/** What forbids to keep an answer, and whose answers those are. */
export const UNKEPT = ['Cache-Control', 'Pragma']
export const isUnkept = ({ who, failsAs }: Operation) => who === 'team' || failsAs !== undefined

/** References to headers, by name. */
export const headers = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

function failure(status: number, codes: readonly ErrorCode[], operation: Operation): Described {
  const { failsAs } = operation
  const description = codes.map((code) => `\`${code}\`: ${PROBLEM[code].cause}`).join('\n\n')
  const described = { description, headers: headers(headersOf(status, operation)) }
  if (failsAs === 'page') {
    return { ...described, content: { 'text/html': { schema: { type: 'string' } } } }
  }
  if (failsAs === 'oauth') {
    const examples = codes.map((code) => [code, { value: asOauth(code) }])
    const content = { schema: ref('OAuthError'), examples: Object.fromEntries(examples) }
    return { ...described, content: { 'application/json': content } }
  }
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
  const page = isPaged(operation, status) && { 'text/html': { schema: { type: 'string' } } }
  return { ...described, content: { 'application/problem+json': content, ...page } }
}

/** Each problem, as an example. */
export const PROBLEMS: Record<string, { summary: string; value: object }> = Object.fromEntries(
  (Object.keys(PROBLEM) as ErrorCode[]).map((code) => [
    code,
    { summary: new ApiError(code).title, value: problemOf(code) },
  ]),
)

/**
 * How an operation may fail, by status; what several operations have in common stands once in
 * `shared`, by name.
 */
export function failures(operation: Operation, shared: Record<string, Described>) {
  const codes = [...new Set([...IMPLIED[operation.who], ...operation.fails])]
  const byStatus = Map.groupBy(codes, (code) => new ApiError(code).status)
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, of]) => {
        const name = [...of, operation.failsAs ?? callers(operation)].join('.')
        shared[name] ??= failure(status, of, operation)
        return [String(status), { $ref: `#/components/responses/${name}` }]
      }),
  )
}
