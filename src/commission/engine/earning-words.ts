import type { Earning } from './earnings.ts'
import type { PlanTerms, Rule } from './plan.ts'
import { rateWords, unitMeasure } from './plan-words.ts'
import { figure, money } from './reasons.ts'

// What a record adds to a line, in plain English.

/** What a sentence about a line needs to know of it. */
export type Earned = Pick<Earning, 'as' | 'base' | 'units' | 'currency' | 'rule' | 'kind'>

/**
 * Returns what a record adds to a line: `25 % of 200.00 EUR`. What the line pays depends on all of its records.
 *
 * @param terms The version of the plan that has the rule; null if it is not known.
 */
export function earningWords(earned: Earned, terms: PlanTerms | null): string {
  const { as, base, units, currency, rule: id } = earned
  const rule = terms?.rules.find((one) => one.id === id)
  const rate = terms && rule ? rateWords(rule, terms) : ''
  if (!rule) {
    if (base !== null) return `counts with ${money(base, currency)}`
    return units === null ? 'counts' : `counts with ${figure(units)}`
  }
  if (as === 'qualification') {
    return `counts towards ${rate}${rate.endsWith('%') ? ' of the amount' : ''} once for the customer`
  }
  if (as === 'trigger' && base === null) return `${rate} once for the customer`
  if (as === 'units') {
    const each = 'each' in rule && rule.each !== undefined && rule.each !== '1' ? rule.each : null
    const per = each === null ? '' : ` for each ${figure(each)}`
    return `${figure(units ?? '0')} ${unitNoun(rule)} × ${rate}${per}`
  }
  return `${rate} of ${money(base ?? '0', currency)}`
}

/** Names what a rule counts: `lots traded`, `deposits`; `units` if the rule is not known. */
export function unitNoun(rule: Rule | undefined): string {
  if (rule?.kind === 'unit') return unitMeasure(rule.unit).replace(/^number of /, '')
  if (rule && 'of' in rule && 'unit' in rule.of) {
    return unitMeasure(rule.of.unit).replace(/^number of /, '')
  }
  return 'units'
}
