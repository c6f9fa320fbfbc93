import type { ApiResponse } from '../exchange.ts'
import { type Issue, problemOf } from '../problem.ts'
import type { Account } from './placeholders.ts'
import type { Expected } from './sample.ts'

/** The result of one record, or of a request as a whole. */
export interface Result {
  outcome?: string
  errors: Issue[]
  warnings: Issue[]
}

interface AcceptedBody {
  results: ({ index: number } & Partial<Result>)[]
}

/** Returns the result of the request as a whole, and of each of its records. */
export function resultsOf({ status, body }: ApiResponse, records: number) {
  const problems = problemOf(body).errors ?? []
  const { results = [] } = status < 300 ? (body as AcceptedBody) : {}
  const resultOf = (index: number | undefined): Result => {
    const { outcome, errors, warnings = [] } = results.find((one) => one.index === index) ?? {}
    const own = problems
      .filter((error) => error.index === index)
      .map(({ index: _, key: __, ...error }) => error)
    return { ...(outcome !== undefined && { outcome }), errors: errors ?? own, warnings }
  }
  const indexes = Array.from({ length: records }, (_, index) => index)
  return { whole: resultOf(undefined), each: indexes.map(resultOf) }
}

/** Returns the warnings that every customer of this account receives. */
export function accountWarnings(
  { affiliates }: Account,
  hasTrackingData: boolean,
): ReadonlySet<string> {
  const codes = []
  if (affiliates.length === 0) codes.push('unknown_affiliate')
  if (!hasTrackingData) codes.push('unattributed')
  return new Set(codes)
}

/** Returns whether the result has exactly the expected codes, apart from the ignored warnings. */
export function isExpected(
  { error, warning, outcome }: Expected,
  result: Result,
  ignored: ReadonlySet<string>,
): boolean {
  const codes = (
    issues: readonly Issue[],
    except: ReadonlySet<string>,
    expected: string | undefined,
  ) => issues.map(({ code }) => code).filter((code) => code === expected || !except.has(code))
  const isOnly = (found: string[], expected: string | undefined) =>
    found.length === (expected === undefined ? 0 : 1) && found[0] === expected
  return (
    isOnly(codes(result.errors, new Set(), error), error) &&
    isOnly(codes(result.warnings, ignored, warning), warning) &&
    (outcome === undefined || result.outcome === outcome)
  )
}

/** The policies that some results need. */
const NEEDED_POLICIES = [
  ['error', 'unknown_customer', 'unknown_customer', 'reject'],
  ['outcome', 'held', 'unknown_customer', 'hold'],
  ['error', 'unknown_affiliate', 'unknown_affiliate', 'reject'],
  ['warning', 'unknown_affiliate', 'unknown_affiliate', 'warn'],
] as const

/** Returns the reason why this account cannot have the expected result, or null. */
export function policyObstacle(expected: Expected, { policies }: Account): string | null {
  const needed = NEEDED_POLICIES.find(([kind, code]) => expected[kind] === code)
  if (!needed) return null
  const [, , policy, value] = needed
  return policies[policy] === value
    ? null
    : `the policy ${policy} of this account is ${policies[policy]}, not ${value}`
}

/** Returns an expected result as names, such as `error pattern`. */
export const namesOf = ({ error, warning, outcome }: Expected): string[] =>
  Object.entries({ error, warning, outcome })
    .filter(([, code]) => code !== undefined)
    .map(([kind, code]) => `${kind} ${code}`)
