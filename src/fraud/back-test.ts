import * as v from 'valibot'
import { dayNumber } from '../commission/engine/calendar.ts'
import { validateShape } from '../commission/plans/issues.ts'
import { objectOf } from '../commission/plans/shapes.ts'
import * as f from '../validation/fields.ts'
import type { Issue } from '../validation/issue.ts'
import { isObject } from '../validation/record-validator.ts'
import { checkMeaning, checkShape, isInScope } from './check-rule.ts'
import type { Vertical } from './kind.ts'
import { KINDS } from './kinds.ts'
import { BACK_TEST_LIMITS } from './limits.ts'
import type { RuleTerms } from './rules.ts'
import type { BackTest } from './simulate.ts'

/** The body of a request for a back-test. The version is checked as a rule. */
const backTest = objectOf({ from: f.day, to: f.day, version: v.any() })

/** A case without new records expires after so many days. */
const EXPIRE_DAYS = 90

/** What a valid request asks for. */
export interface BackTestRequest {
  readonly from: string
  readonly to: string
  readonly test: BackTest
  /** Whether the rule reads the records of an affiliate. */
  readonly isInScope: (affiliate: string) => boolean
}

type Parsed = { issues: Issue[]; request: null } | { issues: []; request: BackTestRequest }

/**
 * Validates the body of a request to test a version of a rule on past days.
 *
 * @param lastDay The last complete day, `YYYY-MM-DD`.
 */
export function parseBackTest(body: unknown, vertical: Vertical, lastDay: string): Parsed {
  const { issues, output } = validateShape(backTest, body)
  if (!output) return { issues, request: null }
  const { from, to } = output
  const { issues: wrong, terms } = checkVersion(output.version, vertical, from)
  const all = [...checkDays(from, to, lastDay), ...wrong]
  const kind = KINDS.find((one) => one.kind === terms?.kind)
  if (all.length > 0 || !terms || !kind) return { issues: all, request: null }
  const { parameters, action, reserve_percent: reservePercent = '100', scope } = terms
  const [first, last] = [dayNumber(from), dayNumber(to)]
  return {
    issues: [],
    request: {
      from,
      to,
      test: { kind, parameters, action, reservePercent, expireDays: EXPIRE_DAYS, first, last },
      isInScope: (affiliate) => isInScope(scope, affiliate),
    },
  }
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
  const wrong = terms ? checkMeaning(terms, []) : issues
  return {
    issues: wrong.map((issue) => ({ ...issue, pointer: `/version${issue.pointer}` })),
    terms,
  }
}
