import type { Period } from '../../platform/money/calendar.ts'
import { compare, integer, multiply, ZERO } from '../../platform/money/decimal.ts'
import {
  addRatio,
  multiplyRatio,
  NOTHING,
  type Ratio,
  ratio,
  sumRatios,
} from '../../platform/money/ratio.ts'
import type { Version } from './plans-in-force.ts'
import type { CompiledRule } from './rules.ts'
import { countOnce, countOnceBelow, type PlanInput } from './settle-plan.ts'
import { addMeasure, earlierMeasure, measureKey, type OpenState } from './state.ts'
import type { RuleSums } from './sums.ts'
import type { Measure } from './tiers.ts'

/**
 * Returns the base or units of the period over all versions of a rule, of the kind that the given version
 * of the rule names (§16.5).
 */
export type OwnMeasure = (rule: CompiledRule) => Ratio

/** Returns what a quantity of another version's rule adds to the measure of a rule: nothing in another unit. */
export function measuredBy(
  { unitName, each }: CompiledRule,
  { rule, quantity }: { readonly rule: CompiledRule; readonly quantity: Ratio },
): Ratio {
  if (rule.unitName !== unitName) return NOTHING
  if (compare(rule.each, each) === 0) return quantity
  const { num, den } = multiplyRatio(quantity, rule.each)
  return ratio(num, multiply(den, each))
}

/**
 * Returns a function that returns the measure of a rule's tiers (§12 "Tiers"), and computes it once for
 * each rule of a version: a rule may have a line for each customer.
 */
export function measuresOf(
  input: PlanInput,
  own: OwnMeasure,
): (version: Version, rule: CompiledRule) => Measure {
  const known = new Map<CompiledRule, Measure>()
  return (version, rule) => {
    const found = known.get(rule)
    if (found) return found
    const inPeriod = measureIn(input, rule, own(rule))
    const earlier = earlierOf(input.state.measures, version, rule, input.account.period)
    const total = sumRatios([earlier, inPeriod.own, inPeriod.network])
    const measure = { earlier, ...inPeriod, total }
    known.set(rule, measure)
    return measure
  }
}

/**
 * Adds the period's measure to those of a quarter and of all periods, for each version that has a rule of
 * the kind and id whose tiers have a window.
 */
export function keepMeasure(
  input: PlanInput,
  kind: CompiledRule['kind'],
  id: string,
  ownMeasure: OwnMeasure,
): void {
  const { plan, state, account } = input
  for (const { rules, version } of plan.versions) {
    const rule = rules.find((one) => one.id === id && one.kind === kind)
    if (!rule?.tiers || rule.tiers.window === 'period') continue
    const key = measureKey(id, version)
    const { own, network } = measureIn(input, rule, ownMeasure(rule))
    const measure = addRatio(own, network)
    state.measures.set(key, addMeasure(state.measures.get(key), measure, account.period.last))
  }
}

/** Returns the measures of earlier periods that the window of a rule's tiers includes. */
export const earlierOf = (
  measures: OpenState['measures'],
  { version }: Version,
  { id, tiers }: CompiledRule,
  { last }: Period,
): Ratio => earlierMeasure(measures.get(measureKey(id, version)), tiers?.window ?? 'period', last)

/** What a rule measures in a period. */
type PeriodMeasure = Pick<Measure, 'own' | 'network'>

/** Returns what the tiers of a rule measure in the period. */
function measureIn(input: PlanInput, rule: CompiledRule, own: Ratio): PeriodMeasure {
  const { sums } = input
  const { by, network } = rule.tiers ?? { by: null, network: false }
  const below = network ? sums.network.get(rule) : undefined
  const withBelow = (once: string, count: Ratio): PeriodMeasure => ({
    own: count,
    network: network ? ratio(integer(countOnceBelow(input, once))) : NOTHING,
  })
  // A CPA counts one customer, so that active customers are CPAs.
  if (rule.kind === 'once' && (by === null || by === 'active')) return withBelow(rule.id, own)
  if (by === 'active') return activeCustomers(input, rule, below)
  if (by !== null && 'once' in by) {
    return withBelow(by.once, ratio(integer(countOnce(input, by.once))))
  }
  if (by !== null) {
    return {
      own: ratio(sums.measures.get(rule)?.total.base ?? ZERO),
      network: below ? ratio(below.total.base) : NOTHING,
    }
  }
  return { own, network: below ? quantityOf(rule, below) : NOTHING }
}

/** Returns what a rule's facts came to: a base, or units divided by `each`. */
export function quantityOf(rule: CompiledRule, { total }: RuleSums): Ratio {
  return rule.kind === 'unit' ? ratio(total.units, rule.each) : ratio(total.base)
}

/** Counts the customers with a counted fact under any version of the rule, and others in the network. */
function activeCustomers(
  { plan, sums }: PlanInput,
  rule: CompiledRule,
  below: RuleSums | undefined,
): PeriodMeasure {
  const active = new Set<string>()
  for (const { rules } of plan.versions) {
    for (const one of rules) {
      if (one.id !== rule.id) continue
      for (const id of sums.ownRules.get(one)?.customers.keys() ?? []) active.add(id)
    }
  }
  const own = active.size
  for (const id of below?.customers.keys() ?? []) active.add(id)
  return { own: ratio(integer(own)), network: ratio(integer(active.size - own)) }
}
