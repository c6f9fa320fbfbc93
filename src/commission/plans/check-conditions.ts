import type { Issue } from '../../validation/issue.ts'
import type { Conditions } from '../engine/plan.ts'
import { FACT_CONDITIONS } from './conditions.ts'
import { compareDecimals } from './decimals.ts'

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
