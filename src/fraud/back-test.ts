import { dayNumber } from '../commission/engine/calendar.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { isObject } from '../platform/validation/record-validator.ts'
import { checkMeaning, checkShape } from './check-rule.ts'
import type { Vertical } from './kind.ts'
import { BACK_TEST_LIMITS } from './limits.ts'
import { daysOfTerms, ruleDaysOf } from './rule-days.ts'
import type { RuleTerms } from './rules.ts'
import type { BackTest } from './simulate.ts'
import type { RuleVersion } from './stored-rules.ts'

/** The body of a request for a back-test. The version is checked as a rule; without one, those that are stored are. */
interface BackTestBody {
  readonly from: string
  readonly to: string
  readonly version?: unknown
}

/** What a valid request asks for. */
export interface BackTestRequest {
  readonly from: string
  readonly to: string
  readonly test: BackTest
}

type Parsed = { issues: Issue[]; request: null } | { issues: []; request: BackTestRequest }

/**
 * Validates the body of a request to test a rule on past days.
 *
 * @param lastDay The last complete day, `YYYY-MM-DD`.
 * @param stored The versions of the rule by first day, which are tested if the body has none.
 */
export function parseBackTest(
  rule: string,
  { from, to, version }: BackTestBody,
  vertical: Vertical,
  lastDay: string,
  stored: readonly RuleVersion[],
): Parsed {
  const [first, last] = [dayNumber(from), dayNumber(to)]
  const sent = version === undefined ? null : checkVersion(version, vertical, from)
  const all = [...checkDays(from, to, lastDay), ...(sent?.issues ?? [])]
  if (sent?.terms === null || all.length > 0) return { issues: all, request: null }
  const versions = sent
    ? // A version that is sent is tested even if it would be stored as disabled.
      daysOfTerms(rule, null, sent.terms, first, last)
    : ruleDaysOf(stored, first, last)
  return { issues: [], request: { from, to, test: { versions, first, last } } }
}

function checkDays(from: string, to: string, lastDay: string): Issue[] {
  const pointer = '/to'
  if (to < from) return [{ pointer, code: 'minimum', expected: from, value: to }]
  if (to > lastDay) {
    const instruction = 'The last day that is over is the latest.'
    return [{ pointer, code: 'maximum', expected: lastDay, value: to, instruction }]
  }
  const { days } = BACK_TEST_LIMITS
  if (dayNumber(to) - dayNumber(from) < days) return []
  const instruction = `A back-test has at most ${days} days.`
  return [{ pointer, code: 'maximum', expected: `${days} days`, value: to, instruction }]
}

/** Validates a version as if it were put. What has no effect on past days may be left out. */
function checkVersion(
  version: unknown,
  vertical: Vertical,
  effective_from: string,
): { issues: Issue[]; terms: RuleTerms | null } {
  const body = isObject(version)
    ? { name: 'Back-test', severity: 'low', effective_from, ...version }
    : version
  const { issues, output: terms } = checkShape(body, vertical)
  const wrong = terms ? checkMeaning(terms, undefined) : issues
  return {
    issues: wrong.map((issue) => ({ ...issue, pointer: `/version${issue.pointer}` })),
    terms,
  }
}
