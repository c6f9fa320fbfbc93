import * as f from '../../platform/validation/fields.ts'
import { member, said } from '../../platform/validation/fields.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { validateShape } from './issues.ts'
import type { Assignment } from './stored-plans.ts'

/** The maximum number of assignments in one request. */
export const MAX_ASSIGNMENTS = 1000

/** Stands for every affiliate that has no assignment of its own. */
export const ALL_OTHERS = '*'

/** The plan that governs the customers of an affiliate, as it is sent. */
export const governed = {
  plan: member(f.id, said('The plan, which must exist.', 'standard-ib')),
  from: member(f.day, said('The first day.', '2026-12-01')),
  customers: member(
    f.oneOf('new', 'all'),
    said(
      '`new`: customers who sign up from that day on; earlier customers keep their earlier assignment. An affiliate’s first assignment also governs customers who signed up before it, for their records of that day and later. `all`: takes over all customers from that day on.',
    ),
  ),
}

/** An assignment, as it is sent. */
export const assignment = objectOf({
  affiliate_id: member(
    f.affiliateOrAll,
    said('The affiliate. `*` covers every affiliate that has no assignment of its own.', 'IB-07'),
  ),
  ...governed,
})

/** The earliest first day: each period since the first assignment is computed. */
const FIRST_FROM = '2000-01-01'

/** An assignment of a body, with its pointer. */
export interface SentAssignment extends Assignment {
  readonly pointer: string
}

/** Returns the valid assignments of a list, and the issues of the others. */
export function readAssignments(items: readonly { pointer: string; item: unknown }[]): {
  issues: Issue[]
  sent: SentAssignment[]
} {
  const issues: Issue[] = []
  const keys = new Set<string>()
  const sent = items.flatMap(({ pointer, item }): SentAssignment[] => {
    const { issues: own, output } = validateShape(assignment, item)
    issues.push(...own.map((one) => ({ ...one, pointer: pointer + one.pointer })))
    if (!output) return []
    const key = JSON.stringify([output.affiliate_id, output.from])
    if (keys.has(key)) issues.push({ pointer, code: 'duplicate_key' })
    keys.add(key)
    return [{ pointer, ...output }]
  })
  return { issues, sent }
}

const tooEarly = (pointer: string, value: string): Issue => ({
  pointer: `${pointer}/from`,
  code: 'date',
  value,
  expected: `before ${FIRST_FROM}`,
  instruction: `Assign from ${FIRST_FROM} or a later day.`,
})

/** Returns an issue for each assignment that begins too early, or to a plan that the account does not have. */
export const assignmentIssues = (
  sent: readonly SentAssignment[],
  plans: readonly string[],
): Issue[] => {
  const known = new Set(plans)
  const none = plans.length === 0 && { instruction: 'The account has no plan. Put one first.' }
  const expected = 'a plan of this account'
  return sent.flatMap(({ pointer, plan: value, from }): Issue[] => [
    ...(from < FIRST_FROM ? [tooEarly(pointer, from)] : []),
    ...(known.has(value)
      ? []
      : [
          {
            pointer: `${pointer}/plan`,
            code: 'unknown_reference' as const,
            expected,
            value,
            suggestions: plans,
            ...none,
          },
        ]),
  ])
}
