import { compare, integer, multiply, ZERO } from './decimal.ts'
import { addRatio, multiplyRatio, NOTHING, type Ratio, ratio } from './ratio.ts'
import type { CompiledRule } from './rules.ts'
import { countOnce, type PlanInput } from './settle-plan.ts'
import type { RuleTally } from './tally.ts'
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
export function measuresOf(input: PlanInput, own: OwnMeasure): (rule: CompiledRule) => Measure {
  const known = new Map<CompiledRule, Measure>()
  return (rule) => {
    const found = known.get(rule)
    if (found) return found
    const measured = measureIn(input, rule, own(rule))
    const measure = { ...measured, total: addRatio(measured.own, measured.network) }
    known.set(rule, measure)
    return measure
  }
}

/** What a rule measures in a period. */
type PeriodMeasure = Pick<Measure, 'own' | 'network'>

/** Returns what the tiers of a rule measure in the period. */
function measureIn(input: PlanInput, rule: CompiledRule, own: Ratio): PeriodMeasure {
  const { tallies } = input
  const { by, network } = rule.tiers ?? { by: null, network: false }
  const below = network ? tallies.network.get(rule) : undefined
  // A CPA counts one customer, so that active customers are CPAs.
  if (rule.kind === 'once' && (by === null || by === 'active')) return { own, network: NOTHING }
  if (by === 'active') return activeCustomers(input, rule, below)
  if (by !== null && 'once' in by) {
    return { own: ratio(integer(countOnce(input, by.once))), network: NOTHING }
  }
  if (by !== null) {
    return {
      own: ratio(tallies.measures.get(rule)?.tally.total.base ?? ZERO),
      network: below ? ratio(below.tally.total.base) : NOTHING,
    }
  }
  return { own, network: below ? quantityOf(rule, below) : NOTHING }
}

/** Returns what a rule's facts came to: a base, or units divided by `each`. */
export function quantityOf(rule: CompiledRule, { tally }: RuleTally): Ratio {
  return rule.kind === 'unit' ? ratio(tally.total.units, rule.each) : ratio(tally.total.base)
}

/** Counts the customers with a counted fact under any version of the rule, and others in the network. */
function activeCustomers(
  { plan, tallies }: PlanInput,
  rule: CompiledRule,
  below: RuleTally | undefined,
): PeriodMeasure {
  const active = new Set<string>()
  for (const { rules } of plan.versions) {
    for (const one of rules) {
      if (one.id !== rule.id) continue
      for (const id of tallies.ownRules.get(one)?.tally.customers.keys() ?? []) active.add(id)
    }
  }
  const own = active.size
  for (const id of below?.tally.customers.keys() ?? []) active.add(id)
  return { own: ratio(integer(own)), network: ratio(integer(active.size - own)) }
}
