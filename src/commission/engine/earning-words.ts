import { minorDigits } from '../minor-digits.ts'
import { compare, decimal, fixedText, integer, multiply, quotient } from './decimal.ts'
import type { Earning } from './earnings.ts'
import type { PlanTerms, Rule } from './plan.ts'
import { rateWords, unitMeasure } from './plan-words.ts'
import { figure, money } from './reasons.ts'

// What a record adds to a line, in plain English.

/** What a sentence about a line needs to know of it. */
export type Earned = Pick<Earning, 'as' | 'base' | 'units' | 'currency' | 'rule' | 'kind'>

/**
 * Returns what a record adds to a line: `25 % of 200.00 EUR = 50.00 EUR`. With tiers the rate depends on all
 * records of the line, so there is no result. Limits of the rule apply to the whole line.
 *
 * @param terms The version of the plan that has the rule; null if it is not known.
 */
export function earningWords(earned: Earned, terms: PlanTerms | null): string {
  const rule = terms?.rules.find(({ id }) => id === earned.rule)
  if (!terms || !rule) return quantityWords(earned)
  const rate = rateWords(rule, terms)
  if (earned.as === 'qualification') {
    return `counts towards ${rate}${ofAmount(rate)} once for the customer`
  }
  if (earned.as === 'trigger' && earned.base === null) return `${rate} once for the customer`
  if (earned.as === 'units') return unitWords(earned, rule, rate)
  if (earned.base === null) return `${rate} for each customer who qualifies`
  return shareWords(earned, rule, rate)
}

const ofAmount = (rate: string): string => (rate.endsWith('%') ? ' of the amount' : '')

function quantityWords({ base, units, currency }: Earned): string {
  if (base !== null) return `counts with ${money(base, currency)}`
  return units === null ? 'counts' : `counts with ${figure(units)}`
}

function shareWords({ base, currency }: Earned, rule: Rule, rate: string): string {
  const part = `${rate} of ${money(base ?? '0', currency)}`
  if (rule.tiers || !('percent' in rule) || rule.percent === undefined) return part
  const paid = multiply(decimal(base ?? '0'), decimal(rule.percent))
  return `${part} ${result({ units: paid.units, scale: paid.scale + 2 }, currency)}`
}

/** Names what a rule counts: `lots traded`, `deposits`; `units` if the rule is not known. */
export function unitNoun(rule: Rule | undefined): string {
  if (rule?.kind === 'unit') return unitMeasure(rule.unit).replace(/^number of /, '')
  if (rule && 'of' in rule && 'unit' in rule.of) {
    return unitMeasure(rule.of.unit).replace(/^number of /, '')
  }
  return 'units'
}

function unitWords({ units, currency }: Earned, rule: Rule, rate: string): string {
  const each = 'each' in rule && rule.each !== undefined && rule.each !== '1' ? rule.each : null
  const counted = `${figure(units ?? '0')} ${unitNoun(rule)}`
  const per = each === null ? '' : ` for each ${figure(each)}`
  if (rule.tiers || !('amount' in rule) || rule.amount === undefined) {
    return `${counted} at ${rate}${per}`
  }
  const paid = quotient(
    multiply(decimal(units ?? '0'), decimal(rule.amount)),
    each === null ? integer(1) : decimal(each),
    RESULT_PLACES,
  )
  return `${counted} × ${rate}${per} ${result(paid, currency)}`
}

/** The places with which a result is compared with what is shown of it. */
const RESULT_PLACES = 12

/** Writes a result with the minor digits of its currency: `= 50.00 EUR`, or `≈` if it is rounded. */
function result(value: ReturnType<typeof decimal>, currency: string): string {
  const shown = fixedText(value, minorDigits(currency))
  const sign = compare(decimal(shown), value) === 0 ? '=' : '≈'
  return `${sign} ${money(shown, currency)}`
}
