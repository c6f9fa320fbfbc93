import { canonicalJson } from '../../validation/canonical-json.ts'
import type { Issue } from '../../validation/issue.ts'
import type { Warning } from '../../validation/warnings.ts'
import type { PlanTerms, Rule } from '../engine/plan.ts'
import { checkPatterns } from './check-conditions.ts'
import { checkFacts } from './check-facts.ts'
import { checkRule } from './check-rules.ts'
import { checkFirstDay, checkVersions, type OtherVersion } from './check-versions.ts'
import { withHint } from './hints.ts'
import { validateShape } from './issues.ts'
import { PLAN_LIMITS } from './limits.ts'
import { namesIn } from './named-facts.ts'
import { planTerms } from './plan.ts'
import { type WarningContext, warningsOf } from './plan-warnings.ts'

/** What the checks of a plan depend on beside the plan. */
export interface PlanContext extends WarningContext {
  /** The other versions of the plan that are not withdrawn. */
  versions: readonly OtherVersion[]
}

/** A valid version of a plan, its canonical text, and what is probably a mistake. */
export interface CheckedPlan {
  terms: PlanTerms
  text: string
  warnings: Warning[]
}

/**
 * Validates the version of a plan. Returns it, or the issues: those of its shape, or if it has none,
 * those of its meaning. A plan that is too large has no further issues.
 */
export function checkPlan(
  body: unknown,
  context: PlanContext,
): { issues: Issue[]; plan: null } | { issues: []; plan: CheckedPlan } {
  const text = canonicalJson(body)
  const excess = checkSize(text)
  if (excess.length > 0) return { issues: excess, plan: null }
  const { issues, output: terms } = validateShape(planTerms, body)
  if (!terms) return { issues: issues.map(withHint), plan: null }
  const names = namesIn(terms)
  const found = [
    ...checkFirstDay(terms),
    ...checkVersions(terms, context.versions),
    ...checkIds(terms.rules),
    ...terms.rules.flatMap((rule, i) => checkRule(rule, `/rules/${i}`, terms)),
    ...checkCircles(terms.rules),
    ...checkFacts(names, context.vocabulary),
    ...checkPatterns(names),
  ]
  if (found.length > 0) return { issues: found, plan: null }
  return { issues: [], plan: { terms, text, warnings: warningsOf(terms, names, context) } }
}

function checkSize(text: string): Issue[] {
  const { length } = new TextEncoder().encode(text)
  if (length <= PLAN_LIMITS.bytes) return []
  const expected = `at most ${PLAN_LIMITS.bytes} bytes of JSON in a plan`
  return [{ pointer: '', code: 'length', expected, received: String(length) }]
}

function checkIds(rules: readonly Rule[]): Issue[] {
  return rules.flatMap(({ id: value }, i): Issue[] => {
    const earlier = rules.findIndex(({ id }) => id === value)
    if (earlier === i) return []
    const expected = `the id of rule ${earlier + 1}`
    const instruction = 'Give each rule another id.'
    return [{ pointer: `/rules/${i}/id`, code: 'duplicate', expected, value, instruction }]
  })
}

/** Tiers of `once` rules that measure each other in a circle have no first measure. */
function checkCircles(rules: readonly Rule[]): Issue[] {
  const measures = new Map(
    rules.flatMap(({ kind, id, tiers }) =>
      kind === 'once' && tiers?.by && 'once' in tiers.by ? [[id, tiers.by.once]] : [],
    ),
  )
  return rules.flatMap(({ kind, id }, i): Issue[] => {
    if (kind !== 'once' || !measures.has(id)) return []
    const visited = new Set<string>()
    let next = measures.get(id)
    while (next !== undefined && next !== id && !visited.has(next)) {
      visited.add(next)
      next = measures.get(next)
    }
    if (next !== id) return []
    const pointer = `/rules/${i}/tiers/by/once`
    const value = measures.get(id)
    const instruction = 'Leave out `by`: a `once` rule measures the number of its own lines.'
    return [{ pointer, code: 'circle', expected: `the rule \`${id}\``, value, instruction }]
  })
}
