import { type CountedOwner, fieldsOn, type Owner, type PeriodContext } from './context.ts'
import type { RateLookup } from './convert.ts'
import type { EvaluatedCustomer } from './evaluated.ts'
import type { Customer, Fact } from './facts.ts'
import { holdFacts, type WaitingFact } from './hold.ts'
import { type PlansInForce, type Version, versionsOf } from './plans-in-force.ts'
import { withinMonths } from './qualify.ts'
import type { CompiledRule } from './rules.ts'
import {
  type AffiliateTallies,
  overrideTallyOf,
  type PeriodTallies,
  type RuleTally,
  talliesOf,
  tallyOf,
} from './tallies.ts'
import { addCustomer, type KeptSums } from './tally.ts'
import { addToGroup, addUnits, type CustomerTally, newCustomerTally } from './tally-groups.ts'
import type { CompiledBase, CompiledTerm, CompiledUnit } from './terms.ts'
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

/** What a rule sums: a base or units, and whether its `when` and `months` apply to the facts. */
interface TallySource {
  /** `unlisted`: the measure of another version; holds are listed by the other version. */
  readonly purpose: WaitingFact['purpose'] | 'unlisted'
  readonly base: CompiledBase | null
  readonly unit: CompiledUnit | null
  readonly conditional: boolean
}

const NOTHING: TallySource = { purpose: 'paid', base: null, unit: null, conditional: false }

/** A tally that facts of an owner enter, and what the customer adds to it. */
interface Entry {
  /** The affiliate that earns from it. */
  readonly earner: string
  readonly target: RuleTally
  readonly source: TallySource
  readonly customerTally: CustomerTally
}

/** Returns the tallies that facts of an owner enter: of its own rules, then of its uplines' rules. */
function entriesFor(
  context: PeriodContext,
  tallies: PeriodTallies,
  customerTallies: Map<RuleTally, CustomerTally>,
  { affiliate, version }: CountedOwner,
  uplineRulesOf: (affiliate: string) => readonly UplineRule[],
): Entry[] {
  const entries: Entry[] = []
  const enter: Enter = (earner, target, source) => {
    const customerTally = customerTallies.get(target) ?? newCustomerTally()
    customerTallies.set(target, customerTally)
    entries.push({ earner, target, source, customerTally })
  }
  if (version?.period === context.period.kind) {
    enterOwnRules(context, talliesOf(tallies, affiliate), affiliate, version, enter)
  }
  for (const { purpose, upline, version: earning, rule } of uplineRulesOf(affiliate)) {
    const ofUpline = talliesOf(tallies, upline)
    if (purpose === 'network') {
      enter(upline, tallyOf(ofUpline.network, earning, rule), measureSource(rule))
    } else {
      enter(upline, overrideTallyOf(ofUpline, earning, rule, affiliate), ownSource(rule))
    }
  }
  return entries
}

/** Enters facts into a tally of the affiliate that earns from it. */
type Enter = (earner: string, target: RuleTally, source: TallySource) => void

/** Enters facts of a plan into the rules of its version, and into the measures of all versions. */
function enterOwnRules(
  { inForce }: PeriodContext,
  tallies: AffiliateTallies,
  affiliate: string,
  version: Version,
  enter: Enter,
): void {
  for (const rule of version.rules) {
    if (rule.kind === 'share' || rule.kind === 'unit') {
      enter(affiliate, tallyOf(tallies.ownRules, version, rule), ownSource(rule))
    }
  }
  for (const other of versionsOf(inForce, version.plan)) {
    for (const rule of other.rules) {
      const by = rule.tiers?.by
      if (!by || typeof by !== 'object' || !('terms' in by)) continue
      if (!version.rules.some(({ id }) => id === rule.id)) continue
      const purpose = other === version ? 'paid' : 'unlisted'
      const source: TallySource = { purpose, base: by, unit: null, conditional: false }
      enter(affiliate, tallyOf(tallies.measures, other, rule), source)
    }
  }
}

const ownSources = new WeakMap<CompiledRule, TallySource>()

/** Returns what a rule pays for. */
function ownSource(rule: CompiledRule): TallySource {
  const found = ownSources.get(rule) ?? findOwnSource(rule)
  ownSources.set(rule, found)
  return found
}

function findOwnSource(rule: CompiledRule): TallySource {
  const paid = { purpose: 'paid', base: null, unit: null, conditional: true } as const
  if (rule.kind === 'share') return { ...paid, base: rule.base }
  if (rule.kind === 'unit') return { ...paid, unit: rule.unit }
  if (rule.kind === 'once') return NOTHING
  if ('base' in rule.of) return { ...paid, base: rule.of.base }
  return 'unit' in rule.of ? { ...paid, unit: rule.of.unit } : NOTHING
}

/** What a rule's tiers measure over the network. */
function measureSource(rule: CompiledRule): TallySource {
  const by = rule.tiers?.by ?? null
  const purpose = 'measure'
  if (by === null || by === 'active') return { ...ownSource(rule), purpose }
  return 'once' in by ? NOTHING : { purpose, base: by, unit: null, conditional: false }
}
