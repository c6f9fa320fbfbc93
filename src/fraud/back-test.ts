import { dayNumber } from '../commission/engine/calendar.ts'
import { EXPIRE_DAYS } from '../durations.ts'
import type { Issue } from '../validation/issue.ts'
import { isObject } from '../validation/record-validator.ts'
import { caseTermsOf } from './cases.ts'
import { checkMeaning, checkShape, isInScope } from './check-rule.ts'
import type { Vertical } from './kind.ts'
import { KINDS } from './kinds.ts'
import { BACK_TEST_LIMITS } from './limits.ts'
import { ruleDaysOf } from './rule-days.ts'
import type { RuleTerms } from './rules.ts'
import type { BackTest, TestedVersion } from './simulate.ts'
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
  { from, to, version }: BackTestBody,
  vertical: Vertical,
  lastDay: string,
  stored: readonly RuleVersion[],
): Parsed {
  const [first, last] = [dayNumber(from), dayNumber(to)]
  const sent = version === undefined ? null : checkVersion(version, vertical, from)
  const all = [...checkDays(from, to, lastDay), ...(sent?.issues ?? [])]
  if (all.length > 0) return { issues: all, request: null }
  const versions = sent
    ? sent.terms && testedVersion(sent.terms, null, first, last)
    : storedOn(stored, first, last)
  return {
    issues: [],
    request: { from, to, test: { versions: versions ?? [], expireDays: EXPIRE_DAYS, first, last } },
  }
}

/** Returns a version as it is tested; none if it is disabled. */
function testedVersion(
  terms: RuleTerms,
  version: number | null,
  first: number,
  last: number,
): TestedVersion[] {
  const { parameters, scope } = terms
  const kind = KINDS.find((one) => one.kind === terms.kind)
  // A version that is sent is tested even if it would be stored as disabled.
  if (!kind || (version !== null && terms.disabled)) return []
  const isOwn = (affiliate: string) => isInScope(scope, affiliate)
  return [{ version, kind, parameters, terms: caseTermsOf(terms), isInScope: isOwn, first, last }]
}

/** Returns the back-test of a stored version on all days of another; null if it is disabled, or of another kind. */
export function testOfVersion(
  { terms, version }: RuleVersion,
  { versions: tested, first, last, expireDays }: BackTest,
): BackTest | null {
  const versions = testedVersion(terms, version, first, last).filter(({ kind }) =>
    tested.some((one) => one.kind === kind),
  )
  return versions.length > 0 ? { versions, expireDays, first, last } : null
}

/** Returns the stored versions, each on those of the days on which it applies. */
const storedOn = (stored: readonly RuleVersion[], first: number, last: number): TestedVersion[] =>
  ruleDaysOf(stored, first, last).flatMap((one) =>
    testedVersion(one.version.terms, one.version.version, one.first, one.last),
  )

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
  const wrong = terms ? checkMeaning(terms, []) : issues
  return {
    issues: wrong.map((issue) => ({ ...issue, pointer: `/version${issue.pointer}` })),
    terms,
  }
}
