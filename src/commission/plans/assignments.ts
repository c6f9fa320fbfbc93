import { describeField } from '../../validation/describe.ts'
import * as f from '../../validation/fields.ts'
import type { Issue } from '../../validation/issue.ts'
import { quote } from '../../validation/quote.ts'
import type { Warning } from '../../validation/warnings.ts'
import type { Assignment } from './book.ts'
import { validateShape } from './issues.ts'
import { closed } from './shapes.ts'

/** The most assignments in one request. */
export const MAX_ASSIGNMENTS = 1000

/** The most warnings that one response lists. */
const MAX_WARNINGS = 100

/** Stands for every affiliate that has no assignment of its own. */
export const EVERYBODY = '*'

/** An assignment, as it is sent. */
export const assignment = closed({
  affiliate_id: describeField(
    f.id,
    'The affiliate. `*` covers every affiliate that has no assignment of its own.',
    'IB-07',
  ),
  plan: describeField(f.id, 'The plan, which must exist.', 'standard-ib'),
  from: describeField(f.day, 'The first day.', '2026-12-01'),
  customers: describeField(
    f.oneOf('new', 'all'),
    '`new`: only customers who sign up from that day on. `all`: also earlier customers, from that day on.',
  ),
})

/** The earliest first day: each period since the first assignment is computed. */
const FIRST_FROM = '2000-01-01'
const TOO_EARLY = `Assignments begin on ${FIRST_FROM} or later.`

/** Returns the assignments of a body, or all issues. */
export function readAssignments(
  body: unknown,
): { issues: Issue[]; sent: null } | { issues: []; sent: Assignment[] } {
  if (!Array.isArray(body)) {
    return { issues: [{ pointer: '', code: 'type', expected: 'array' }], sent: null }
  }
  if (body.length < 1 || body.length > MAX_ASSIGNMENTS) {
    const expected = `1 to ${MAX_ASSIGNMENTS}`
    const received = String(body.length)
    return { issues: [{ pointer: '', code: 'record_count', expected, received }], sent: null }
  }
  const issues: Issue[] = []
  const sent = body.flatMap((item: unknown, i): Assignment[] => {
    const checked = validateShape(assignment, item)
    issues.push(...checked.issues.map((one) => ({ ...one, pointer: `/${i}${one.pointer}` })))
    return checked.output ? [checked.output] : []
  })
  if (issues.length > 0) return { issues, sent: null }
  const early = sent.flatMap(({ from }, i) =>
    Object.entries({ from })
      .filter(([, value]) => value < FIRST_FROM)
      .map(
        ([member, value]): Issue => ({
          ...{ pointer: `/${i}/${member}`, code: 'date', value },
          instruction: TOO_EARLY,
        }),
      ),
  )
  if (early.length > 0) return { issues: early, sent: null }
  const repeated = findRepeated(sent)
  return repeated.length > 0 ? { issues: repeated, sent: null } : { issues: [], sent }
}

function findRepeated(sent: readonly Assignment[]): Issue[] {
  const keys = new Set<string>()
  return sent.flatMap(({ affiliate_id, from }, i): Issue[] => {
    const key = JSON.stringify([affiliate_id, from])
    if (!keys.has(key)) {
      keys.add(key)
      return []
    }
    return [{ pointer: `/${i}`, code: 'duplicate_key' }]
  })
}

/** Returns an issue for each assignment to a plan that the account does not have. */
export const checkAssignedPlans = (
  sent: readonly Assignment[],
  plans: readonly string[],
): Issue[] => {
  const known = new Set(plans)
  return sent.flatMap(({ plan: value }, i): Issue[] => {
    if (known.has(value)) return []
    const expected = 'a plan of this account'
    const pointer = `/${i}/plan`
    return [{ pointer, code: 'unknown_reference', expected, value, suggestions: plans }]
  })
}

/** The warnings of a response. */
export interface WarningList {
  readonly warnings: readonly Warning[]
  readonly warnings_total: number
}

/** Returns the warnings of a response; at most 100 are listed. */
export const listWarnings = (all: readonly Warning[]): WarningList => ({
  warnings: all.slice(0, MAX_WARNINGS),
  warnings_total: all.length,
})

/** Returns the warning of an affiliate that is not configured. */
export const unknownAffiliate = (pointer: string, affiliate: string): Warning => ({
  code: 'unknown_affiliate',
  pointer,
  message: `Affiliate ${quote(affiliate)} is not configured. Until it is, its customers earn nothing.`,
})

/** Returns a warning for each affiliate that is not configured; at most 100 are listed. */
export const assignmentWarnings = (
  sent: readonly Assignment[],
  unconfigured: ReadonlySet<string>,
): WarningList =>
  listWarnings(
    sent.flatMap(({ affiliate_id }, i) =>
      unconfigured.has(affiliate_id) ? [unknownAffiliate(`/${i}/affiliate_id`, affiliate_id)] : [],
    ),
  )
