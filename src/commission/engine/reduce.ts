import { fieldsOn, type Owner, type PeriodContext } from './context.ts'
import type { RateLookup } from './convert.ts'
import type { EvaluatedCustomer } from './evaluated.ts'
import type { Customer, Fact } from './facts.ts'
import { holdFacts, type WaitingFact } from './hold.ts'
import { type PlansInForce, type Version, versionsOf } from './plans-in-force.ts'
import { withinMonths } from './qualify.ts'
import type { CompiledRule } from './rules.ts'
import { type PeriodTallies, type RuleTally, talliesOf } from './tallies.ts'
import { addCustomer, type KeptSums } from './tally.ts'
import { type Entry, entriesFor, type TallySource } from './tally-entries.ts'
import { addToGroup, addUnits, type CustomerTally } from './tally-groups.ts'
import type { CompiledTerm, CompiledUnit } from './terms.ts'
import type { UplineRule } from './uplines.ts'

/** What one customer's facts came to under the rules that they entered. */
export type CustomerTallies = Map<RuleTally, CustomerTally>

/**
 * Adds the facts of one customer in the period to the tallies of every affiliate that earns from them.
 * Returns the customer's share of each tally, for explanations.
 */
export function reduceCustomer(
  context: PeriodContext,
  tallies: PeriodTallies,
  evaluated: EvaluatedCustomer,
  uplineRulesOf: (affiliate: string) => readonly UplineRule[],
): CustomerTallies {
  const { inForce, period, rates } = context
  const { customer } = evaluated
  const customerTallies: CustomerTallies = new Map()
  const hold = holdFacts(tallies)
  addOnce(context, tallies, evaluated, hold)
  let entries: readonly Entry[] = []
  let entriesOf: Owner | null = null
  for (const fact of customer.facts) {
    if (fact.day < period.first || fact.day > period.last || fact.state !== 'approved') continue
    const owner = evaluated.ownerOf(fact)
    if (owner.reason !== null && owner.reason !== 'no_plan') continue
    if (entriesOf?.affiliate !== owner.affiliate || entriesOf.version !== owner.version) {
      entries = entriesFor(context, tallies, customerTallies, owner, uplineRulesOf)
      entriesOf = owner
    }
    for (const entry of entries) addFact(customer, entry, fact, rates, hold)
  }
  for (const [{ tally, version, rule }, one] of customerTallies) {
    addCustomer(tally, customer.customer_id, one, version, keptSums(inForce, version, rule), rates)
  }
  return customerTallies
}

const keptSumsOf = new WeakMap<CompiledRule, KeptSums>()

/**
 * Returns which sums of a rule are kept. Those of each customer are, if a line or a fence is for one,
 * or if tiers of the plan count active customers.
 */
function keptSums(inForce: PlansInForce, version: Version, rule: CompiledRule): KeptSums {
  const known = keptSumsOf.get(rule)
  if (known !== undefined) return known
  const per = rule.kind === 'share' ? rule.per : 'affiliate'
  const isFenced = rule.kind === 'share' && rule.fence !== null
  const countsActive = [version, ...versionsOf(inForce, version.plan)].some(({ rules }) =>
    rules.some(({ tiers }) => tiers?.by === 'active'),
  )
  const kept = { per, customers: per === 'customer' || isFenced || countsActive }
  keptSumsOf.set(rule, kept)
  return kept
}

/** Adds a fact to a tally if the rule names it, its conditions hold and its amount converts. */
function addFact(
  customer: Customer,
  { earner, target, source, customerTally }: Entry,
  fact: Fact,
  rates: RateLookup,
  hold: (waiting: WaitingFact) => void,
): void {
  const { version, rule } = target
  const { base, unit, purpose } = source
  if (unit && isSummed(customer, rule, source, unit, fact)) addUnits(customerTally, unit, fact)
  if (base === null) return
  for (const term of base.terms) {
    if (!isSummed(customer, rule, source, term, fact)) continue
    const reason = addToGroup(customerTally, term, fact, version.currency, rates)
    if (reason === null || purpose === 'unlisted') continue
    const { field } = term
    const currency = term.currencyOf(fact)
    hold({ affiliate: earner, version, rule, fact, field, currency, reason, purpose })
  }
}

/** Whether a term names a fact, and the conditions of the term and of the rule, if they apply, hold. */
function isSummed(
  customer: Customer,
  { when, months }: CompiledRule,
  { conditional }: TallySource,
  term: CompiledTerm | CompiledUnit,
  fact: Fact,
): boolean {
  if (!term.names(fact)) return false
  const fields = fieldsOn(customer, fact.day)
  if (conditional && (when(fields, fact) !== null || !withinMonths(customer, fact.day, months))) {
    return false
  }
  return !('when' in term) || term.when(fields, fact) === null
}

/** Adds who qualified in the period, and the facts of the period for which a rule waits. */
function addOnce(
  { period }: PeriodContext,
  tallies: PeriodTallies,
  evaluated: EvaluatedCustomer,
  hold: (waiting: WaitingFact) => void,
): void {
  for (const state of evaluated.qualified.values()) {
    const { version, day, affiliate } = state
    if (version.period !== period.kind || affiliate === null) continue
    if (day >= period.first && day <= period.last) talliesOf(tallies, affiliate).once.push(state)
  }
  for (const { version, rule, affiliate, trigger, blockers } of evaluated.once) {
    if (trigger === null || affiliate === null || version.period !== period.kind) continue
    if (evaluated.qualified.has(rule.id)) continue
    for (const blocker of blockers) {
      const day = Math.max(blocker.fact.day, trigger.day)
      if (day < period.first || day > period.last) continue
      hold({ affiliate, version, rule, purpose: 'paid', ...blocker })
    }
  }
}
