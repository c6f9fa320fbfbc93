import type { Issue } from '../../validation/issue.ts'
import type { PlanTerms, Rule } from '../engine/plan.ts'

// What several checks of a plan share.

/** Returns the issue of a member that has no meaning beside the others. `needs` says why. */
export const notApplicable = (pointer: string, needs: string): Issue => ({
  pointer,
  code: 'not_applicable',
  expected: needs,
})

/** Returns an issue for a reference to a `once` rule that the plan does not have. */
export function checkOnceReference(pointer: string, value: string, { rules }: PlanTerms): Issue[] {
  const ids = rules.flatMap(({ kind, id }) => (kind === 'once' ? [id] : []))
  if (ids.includes(value)) return []
  const expected = 'the id of a `once` rule of this plan'
  const instruction = ids.length === 0 && { instruction: 'This plan has no `once` rule.' }
  const issue = { pointer, code: 'unknown_reference' as const, expected, value }
  return [{ ...issue, suggestions: ids, ...instruction }]
}

/** Returns the members of which a rule has one: its rate, or tiers in its place. */
export function ratesOf(rule: Rule): readonly ('amount' | 'percent')[] {
  if (rule.kind === 'once') return ['amount', 'percent']
  if (rule.kind === 'share') return ['percent']
  if (rule.kind === 'unit') return ['amount']
  return 'lines' in rule.of || 'base' in rule.of ? ['percent'] : ['amount']
}
