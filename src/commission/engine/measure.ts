import { add, integer, ZERO } from './decimal.ts'
import { type Version, versionsIn } from './plans-in-force.ts'
import { addRatio, NOTHING, type Ratio, ratio } from './ratio.ts'
import type { CompiledRule, CompiledTiers } from './rules.ts'
import { countOnce, type PlanInput } from './settle-plan.ts'
import { addMeasure, earlierMeasure, measureKey } from './state.ts'
import type { RuleTally } from './tally.ts'

/**
 * Returns the measure of a rule's tiers (§12 "Tiers").
 *
 * @param own The rule's own base or units in the period, over all versions.
 */
export function measureOf(
  input: PlanInput,
  version: Version,
  rule: CompiledRule,
  own: Ratio,
): Ratio {
  if (rule.tiers === null) return own
  return addRatio(earlierOf(input, rule, version), measureIn(input, rule, own))
}

/**
 * Returns a function that returns the measure of a rule's tiers, and computes it once for each rule of a
 * version: a rule may have a line for each customer.
 */
export function measuresOf(
  input: PlanInput,
  own: Ratio,
): (version: Version, rule: CompiledRule) => Ratio {
  const known = new Map<CompiledRule, Ratio>()
  return (version, rule) => {
    const measure = known.get(rule) ?? measureOf(input, version, rule, own)
    known.set(rule, measure)
    return measure
  }
}

/**
 * Adds the period's measure to those of a quarter and of all periods, for each version of a rule whose
 * tiers have a window. Under `terms: "current"` the version in force in the period measures it, for all
 * versions: whatever later ones measure, the period was as it was.
 */
export function keepMeasure(input: PlanInput, id: string, own: Ratio): void {
  const { plan, state, context } = input
  const ruleIn = (version: Version | undefined) => version?.rules.find((one) => one.id === id)
  for (const version of plan.versions) {
    const rule = ruleIn(version)
    if (!rule?.tiers || rule.tiers.window === 'period') continue
    const isCurrent = version.terms === 'current'
    const measuring = isCurrent ? ruleIn(versionsIn(plan, context.period.first)[0]) : rule
    const key = measureKey(id, version.version)
    const measure = measuring ? measureIn(input, measuring, own) : NOTHING
    state.measures.set(key, addMeasure(state.measures.get(key), measure, context.period.last))
  }
}

/** Returns what a rule measures in the period: what it pays for, if it has no tiers. */
const measureIn = (input: PlanInput, rule: CompiledRule, own: Ratio): Ratio =>
  rule.tiers ? periodMeasure(input, rule, rule.tiers, own) : own

/** Returns the measures of earlier periods that the window of a rule's tiers includes. */
export function earlierOf(
  { state, context }: PlanInput,
  { id, tiers }: CompiledRule,
  { version }: Version,
): Ratio {
  const earlier = state.measures.get(measureKey(id, version))
  return earlierMeasure(earlier, tiers?.window ?? 'period', context.period.last)
}

function periodMeasure(
  input: PlanInput,
  rule: CompiledRule,
  { by, network }: CompiledTiers,
  own: Ratio,
): Ratio {
  const { tallies, onceBelow } = input
  const below = network ? tallies.network.get(rule) : undefined
  // A CPA counts one customer, so that active customers are CPAs.
  if (rule.kind === 'once' && (by === null || by === 'active')) {
    return network ? addRatio(own, ratio(integer(onceBelow(rule.id)))) : own
  }
  if (by === 'active') return ratio(integer(activeCustomers(input, rule, below)))
  if (by !== null && 'once' in by) {
    return ratio(integer(countOnce(input, by.once) + (network ? onceBelow(by.once) : 0)))
  }
  if (by !== null) {
    const measured = tallies.measures.get(rule)?.tally.total.base ?? ZERO
    return ratio(below ? add(measured, below.tally.total.base) : measured)
  }
  return below ? addRatio(own, quantityOf(rule, below)) : own
}

/** Returns what a rule's facts came to: a base, or units divided by `each`. */
export function quantityOf(rule: CompiledRule, { tally }: RuleTally): Ratio {
  return rule.kind === 'unit' ? ratio(tally.total.units, rule.each) : ratio(tally.total.base)
}

/** Counts the customers with a counted fact under any version of the rule, and in the network. */
function activeCustomers(
  { plan, tallies }: PlanInput,
  rule: CompiledRule,
  below: RuleTally | undefined,
): number {
  const active = new Set<string>()
  for (const { rules } of plan.versions) {
    for (const one of rules) {
      if (one.id !== rule.id) continue
      for (const id of tallies.ownRules.get(one)?.tally.customers.keys() ?? []) active.add(id)
    }
  }
  for (const id of below?.tally.customers.keys() ?? []) active.add(id)
  return active.size
}
