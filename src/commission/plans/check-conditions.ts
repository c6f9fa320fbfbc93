import type { Issue } from '../../validation/issue.ts'
import { needsMatching } from '../engine/conditions.ts'
import type { Conditions } from '../engine/plan.ts'
import { FACT_CONDITIONS } from './conditions.ts'
import { compareDecimals } from './decimals.ts'
import { PLAN_LIMITS } from './limits.ts'
import type { PlanNames } from './named-facts.ts'

/**
 * Returns the issues of conditions. `isOfCustomer` refuses those on a fact: the customer has no
 * instrument.
 */
export function checkCondition(
  conditions: Conditions | undefined,
  pointer: string,
  isOfCustomer = false,
): Issue[] {
  if (!conditions) return []
  const issues: Issue[] = []
  const { min, max } = conditions.account_size ?? {}
  if (min !== undefined && max !== undefined && compareDecimals(min, max) > 0) {
    issues.push({
      pointer: `${pointer}/account_size/min`,
      code: 'maximum',
      expected: max,
      value: min,
    })
  }
  if (!isOfCustomer) return issues
  const ofFact = Object.keys(conditions).filter((name) => FACT_CONDITIONS.has(name))
  return [
    ...issues,
    ...ofFact.map((name) => ({
      pointer: `${pointer}/${name}`,
      code: 'not_applicable' as const,
      expected: 'it is a condition on a record, and not on the customer',
    })),
  ]
}

/** Returns an issue if a plan has too many patterns that are matched one by one. */
export function checkPatterns({ conditions }: PlanNames): Issue[] {
  const matched = conditions.flatMap(({ pointer, conditions }) =>
    (['instruments', 'not_instruments'] as const).flatMap((name) =>
      (conditions[name] ?? []).filter(needsMatching).map(() => `${pointer}/${name}`),
    ),
  )
  const pointer = matched[PLAN_LIMITS.matchedGlobs]
  if (pointer === undefined) return []
  const expected = `at most ${PLAN_LIMITS.matchedGlobs} patterns in a plan with \`?\`, or with \`*\` before their end`
  const instruction =
    'Name the beginnings of the symbols, such as `EURUSD*`: any number of these is allowed.'
  return [{ pointer, code: 'length', expected, received: String(matched.length), instruction }]
}
