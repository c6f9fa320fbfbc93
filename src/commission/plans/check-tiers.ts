import type { Issue } from '../../validation/issue.ts'
import type { PlanTerms, Rule, Tiers } from '../engine/plan.ts'
import { checkOnceReference, notApplicable, ratesOf } from './check-parts.ts'
import { checkBase } from './check-terms.ts'
import { compareDecimals, inMillionths } from './decimals.ts'

/** Returns the issues of a rule's tiers. */
export function checkTiers(rule: Rule, tiers: Tiers, pointer: string, plan: PlanTerms): Issue[] {
  const at = `${pointer}/tiers`
  return [
    ...checkMeasure(rule, tiers, at, plan),
    ...checkOrder(tiers, `${at}/steps`),
    ...checkRates(rule, tiers, `${at}/steps`),
  ]
}

function checkMeasure(
  { kind }: Rule,
  { mode, by, over, window }: Tiers,
  pointer: string,
  plan: PlanTerms,
) {
  const issues: Issue[] = []
  if (mode === 'slice' || kind === 'override') {
    if (by) issues.push(notApplicable(`${pointer}/by`, ONLY_OWN))
    if (over === 'network') issues.push(notApplicable(`${pointer}/over`, ONLY_OWN))
  }
  if (by && 'customers' in by && window !== undefined && window !== 'period') {
    const needs = 'active customers are counted in one period'
    issues.push(notApplicable(`${pointer}/window`, needs))
  }
  if (by && 'once' in by) issues.push(...checkOnceReference(`${pointer}/by/once`, by.once, plan))
  if (by && 'base' in by) issues.push(...checkBase(by.base, `${pointer}/by/base`))
  return issues
}

const ONLY_OWN = 'incremental tiers and tiers of overrides measure only what the rule pays for'

/** Steps begin at 0 and ascend. Each begins where the step before it ends, so none overlaps. */
function checkOrder({ steps }: Tiers, pointer: string): Issue[] {
  return steps.flatMap(({ from }, i): Issue[] => {
    const at = [pointer, i, 'from'].join('/')
    const before = steps[i - 1]?.from
    if (before === undefined) {
      if (inMillionths(from) === 0n) return []
      const expected = '`0`, where the first step begins'
      const instruction = 'The first step must begin at `0`. Its rate may be `0`.'
      return [{ pointer: at, code: 'pattern', expected, value: from, instruction }]
    }
    if (compareDecimals(from, before) > 0) return []
    return [{ pointer: at, code: 'order', expected: before, value: from }]
  })
}

/** Each step has the rate of its rule, and all steps have the same one. */
function checkRates(rule: Rule, { steps }: Tiers, pointer: string): Issue[] {
  const rates = ratesOf(rule)
  const [first] = steps
  const usual =
    rates.length > 1 && first ? rates.filter((name) => name in first).slice(0, 1) : rates
  const expected = usual.length > 0 ? usual : rates
  return steps.flatMap((step, i): Issue[] => {
    const at = `${pointer}/${i}`
    const present = (['amount', 'percent'] as const).filter((name) => name in step)
    const wrong = present.filter((name) => !expected.includes(name))
    const needs = `the steps of this rule have \`${expected[0]}\``
    const issues = wrong.map((name) => notApplicable(`${at}/${name}`, needs))
    if (present.length > wrong.length) return issues
    const missing: Issue =
      expected.length > 1
        ? { pointer: at, code: 'choice', expected: expected.join(', ') }
        : { pointer: `${at}/${expected[0]}`, code: 'required' }
    return [...issues, missing]
  })
}
