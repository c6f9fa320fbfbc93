import { integer, ZERO } from './decimal.ts'
import { type Version, versionsIn } from './plans-in-force.ts'
import { addRatio, NOTHING, type Ratio, ratio } from './ratio.ts'
import type { CompiledRule } from './rules.ts'
import { countOnce, type PlanInput } from './settle-plan.ts'
import { addMeasure, earlierMeasure, measureKey } from './state.ts'
import type { RuleTally } from './tally.ts'
import { type Measure, measured } from './tiers.ts'

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
): Measure {
  const inPeriod = measureIn(input, rule, own)
  return measured(earlierOf(input, rule, version), inPeriod.own, inPeriod.network)
}

/**
 * Returns a function that returns the measure of a rule's tiers, and computes it once for each rule of a
 * version: a rule may have a line for each customer.
 */
export function measuresOf(
  input: PlanInput,
  own: Ratio,
): (version: Version, rule: CompiledRule) => Measure {
  const known = new Map<CompiledRule, Measure>()
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
    const inPeriod = measuring && measureIn(input, measuring, own)
    const measure = inPeriod ? addRatio(inPeriod.own, inPeriod.network) : NOTHING
    state.measures.set(key, addMeasure(state.measures.get(key), measure, context.period.last))
  }
}

/** Returns the measures of earlier periods that the window of a rule's tiers includes. */
export function earlierOf(
  { state, context }: PlanInput,
  { id, tiers }: CompiledRule,
  { version }: Version,
): Ratio {
  const earlier = state.measures.get(measureKey(id, version))
  return earlierMeasure(earlier, tiers?.window ?? 'period', context.period.last)
}

/** What a rule measures in a period. */
type PeriodMeasure = Pick<Measure, 'own' | 'network'>

/** Returns what a rule measures in the period: what it pays for, if it has no tiers. */
function measureIn(input: PlanInput, rule: CompiledRule, own: Ratio): PeriodMeasure {
  const { tallies, onceBelow } = input
  if (rule.tiers === null) return { own, network: NOTHING }
  const { by, network } = rule.tiers
  const below = network ? tallies.network.get(rule) : undefined
  const withBelow = (once: string, count: Ratio): PeriodMeasure => ({
    own: count,
    network: network ? ratio(integer(onceBelow(once))) : NOTHING,
  })
  // A CPA counts one customer, so that active customers are CPAs.
  if (rule.kind === 'once' && (by === null || by === 'active')) return withBelow(rule.id, own)
  if (by === 'active') return activeCustomers(input, rule, below)
  if (by !== null && 'once' in by) {
    return withBelow(by.once, ratio(integer(countOnce(input, by.once))))
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
