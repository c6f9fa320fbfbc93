import type { CountedOwner, Owner, PeriodContext } from './context.ts'
import { conversionOf, convertUnits, type RateLookup } from './convert.ts'
import { add, type Decimal, fromFact, multiply, ZERO } from './decimal.ts'
import type { EvaluatedCustomer } from './evaluate.ts'
import { amountOf, type Customer, type Fact } from './facts.ts'
import type { OnceState } from './once.ts'
import { type PlansInForce, type Version, versionsOf } from './plans-in-force.ts'
import { excludedBy } from './qualify.ts'
import type { HoldReason } from './reasons.ts'
import type { CompiledRule } from './rules.ts'
import type { CompiledBase, CompiledTerm, CompiledUnit } from './terms.ts'
import type { UplineRule } from './uplines.ts'

/**
 * Facts of one customer that convert together: those of one term, product, day and currency (§16.16).
 * Facts that `amount_usd` converts are in `alone`.
 */
export interface Group {
  readonly term: CompiledTerm
  readonly product: string | null
  readonly day: number
  readonly currency: string
  count: number
  units: bigint
  alone: bigint
  aloneConverted: bigint
}

/** What one customer's facts come to under a rule, before conversion. */
export interface CustomerTally {
  /** By term, then by day, currency and product. */
  readonly groups: Map<CompiledTerm, Map<string, Group>>
  units: bigint
  /** The facts that it counts, each once. */
  readonly counted: Fact[]
  records: number
}

/** Returns the tally of a customer without facts. */
export const newCustomerTally = (): CustomerTally => ({
  groups: new Map(),
  units: 0n,
  counted: [],
  records: 0,
})

/** Counts a fact once: all terms look at a fact before any looks at the next. */
function markCounted(tally: CustomerTally, fact: Fact): void {
  if (tally.counted.at(-1) === fact) return
  tally.counted.push(fact)
  tally.records += fact.count
}

/** Returns the group of a fact under a term, which is empty at first. */
function groupOf(
  { groups }: CustomerTally,
  term: CompiledTerm,
  { product, day }: Fact,
  currency: string,
): Group {
  const ofTerm = groups.get(term) ?? new Map<string, Group>()
  groups.set(term, ofTerm)
  const key = `${day} ${currency} ${product === null ? '' : `=${product}`}`
  const empty = { count: 0, units: 0n, alone: 0n, aloneConverted: 0n }
  const group = ofTerm.get(key) ?? { term, product, day, currency, ...empty }
  ofTerm.set(key, group)
  return group
}

/** Adds a fact to its group. Returns why it cannot be converted, or null. */
export function addToGroup(
  tally: CustomerTally,
  term: CompiledTerm,
  fact: Fact,
  currency: string,
  rates: RateLookup,
): HoldReason | null {
  const own = term.currencyOf(fact)
  const conversion = conversionOf(fact, term.field, own, currency, rates)
  if (conversion.by === 'none') return conversion.reason
  const group = groupOf(tally, term, fact, conversion.from)
  const amount = amountOf(fact, term.field)
  group.count += fact.count
  if (conversion.by === 'rate') group.units += amount
  else {
    group.alone += amount
    group.aloneConverted += conversion.converted
  }
  markCounted(tally, fact)
  return null
}

/** Adds a fact to the units. */
function addUnits(tally: CustomerTally, unit: CompiledUnit, fact: Fact): void {
  tally.units += unit.counts ? BigInt(fact.count) * 1_000_000_000_000n : amountOf(fact, unit.field)
  markCounted(tally, fact)
}

/** An amount in its own currency, and converted. */
export interface Fx {
  readonly amount: Decimal
  readonly converted: Decimal
}

/** What facts of one customer, or of one scope, come to under a rule. */
export interface Sums {
  /** The base in the plan's currency, without `fixed` terms. */
  base: Decimal
  /** Units before `each`. */
  units: Decimal
  /** How many records were counted, and how many customers they have. */
  facts: number
  counted: number
}

/** What a term's facts in one currency come to. Integers are of 10^-12. */
export interface TermSum {
  readonly term: CompiledTerm
  readonly currency: string
  count: number
  /** What rates convert, and what `amount_usd` converts. */
  units: bigint
  converted: bigint
  alone: bigint
  aloneConverted: bigint
  /** What rates convert, by day; null if that is not kept, or if nothing is converted. */
  readonly days: Map<number, DaySum> | null
}

/** What the rates of a day convert: the sums of so many customers and products, each rounded. */
export interface DaySum {
  sums: number
  units: bigint
  converted: bigint
}

/** What the facts of a rule come to in a period: by customer, by product and in all. */
export interface Tally {
  readonly total: Sums
  readonly customers: Map<string, Sums>
  readonly products: Map<string, Sums>
  /** By scope (`""`, a customer or a product). */
  readonly terms: Map<string, TermSum[]>
}

/** Returns sums of 0. */
const noSums = (): Sums => ({ base: ZERO, units: ZERO, facts: 0, counted: 0 })

/** Returns a tally without facts. */
const newTally = (): Tally => ({
  total: noSums(),
  customers: new Map(),
  products: new Map(),
  terms: new Map(),
})

/** The facts of a line: how many, of how many customers, and what they come to by term and currency. */
export interface LineFacts {
  readonly records: number
  readonly customers: number
  readonly terms: readonly TermSum[]
}

/** Returns what the facts of a line come to; `name` is its customer or product. */
function sumsFor({ tally, kept }: RuleTally, name: string): Sums | undefined {
  if (kept.per === 'affiliate') return tally.total
  return (kept.per === 'customer' ? tally.customers : tally.products).get(name)
}

/** Returns the facts of a line; `name` is its customer or product, or empty. */
export function factsOf(from: RuleTally | null | undefined, name: string): LineFacts {
  const { facts: records, counted: customers } = (from && sumsFor(from, name)) ?? noSums()
  return { records, customers, terms: from?.tally.terms.get(name) ?? [] }
}

/** Adds up what facts come to by currency, with the weights of their terms. */
export function fxOf({ terms }: LineFacts): Map<string, Fx> {
  const found = new Map<string, Fx>()
  for (const { term, currency, units, alone, converted, aloneConverted } of terms) {
    const known = found.get(currency) ?? { amount: ZERO, converted: ZERO }
    const weighted = (sum: bigint): Decimal => multiply(fromFact(sum), term.weight)
    found.set(currency, {
      amount: add(known.amount, weighted(units + alone)),
      converted: add(known.converted, weighted(converted + aloneConverted)),
    })
  }
  return found
}

/** How the sums of a rule are kept beside their total. */
interface KeptSums {
  readonly per: 'affiliate' | 'customer' | 'product'
  /** Whether the sums of each customer are needed. */
  readonly customers: boolean
  /** Whether a line is made of the sums, so that its steps name those of each term, or also of each day. */
  readonly terms: 'none' | 'all' | 'by day'
}

/** Adds what one customer's facts came to. */
function addCustomer(
  tally: Tally,
  customer: string,
  one: CustomerTally,
  { currency: to }: Version,
  { per, customers, terms }: KeptSums,
  rates: RateLookup,
): void {
  if (one.records === 0) return
  const byProduct = new Map<string, Map<CompiledTerm, bigint>>()
  for (const group of [...one.groups.values()].flatMap((ofTerm) => [...ofTerm.values()])) {
    const product = per === 'product' ? (group.product ?? '') : ''
    const rated = convertUnits(group.units, group.currency, to, group.day, rates)
    const converted = typeof rated === 'string' ? 0n : rated
    const ofTerm = byProduct.get(product) ?? new Map<CompiledTerm, bigint>()
    byProduct.set(product, ofTerm)
    ofTerm.set(group.term, (ofTerm.get(group.term) ?? 0n) + converted + group.aloneConverted)
    if (terms === 'none') continue
    const scope = per === 'customer' ? customer : product
    addGroup(
      termSumOf(tally, scope, group, terms === 'by day' && group.currency !== to),
      group,
      converted,
    )
  }
  let base = ZERO
  for (const [product, ofTerm] of byProduct) {
    let own = ZERO
    for (const [term, units] of ofTerm) own = add(own, multiply(fromFact(units), term.weight))
    base = add(base, own)
    if (per !== 'product') continue
    const facts = recordsOf(one, product)
    addSums(sumsOf(tally.products, product), { base: own, units: ZERO, facts, counted: 1 })
  }
  const sums: Sums = { base, units: fromFact(one.units), facts: one.records, counted: 1 }
  if (customers) addSums(sumsOf(tally.customers, customer), sums)
  addSums(tally.total, sums)
}

/** Counts the records of a product, each once. */
const recordsOf = ({ counted }: CustomerTally, product: string): number =>
  counted.reduce((sum, fact) => ((fact.product ?? '') === product ? sum + fact.count : sum), 0)

/** Returns the sum of a group's term and currency in a scope, which is empty at first. */
function termSumOf(
  { terms }: Tally,
  scope: string,
  { term, currency }: Group,
  byDay: boolean,
): TermSum {
  const ofScope = terms.get(scope) ?? []
  terms.set(scope, ofScope)
  for (const one of ofScope) if (one.term === term && one.currency === currency) return one
  const empty = { count: 0, units: 0n, converted: 0n, alone: 0n, aloneConverted: 0n }
  const created: TermSum = { term, currency, ...empty, days: byDay ? new Map() : null }
  ofScope.push(created)
  return created
}

function addGroup(sum: TermSum, group: Group, converted: bigint): void {
  sum.count += group.count
  sum.units += group.units
  sum.converted += converted
  sum.alone += group.alone
  sum.aloneConverted += group.aloneConverted
  if (sum.days === null || group.units === 0n) return
  const day = sum.days.get(group.day) ?? { sums: 0, units: 0n, converted: 0n }
  sum.days.set(group.day, day)
  day.sums += 1
  day.units += group.units
  day.converted += converted
}

function addSums(to: Sums, { base, units, facts, counted }: Sums): void {
  to.base = add(to.base, base)
  to.units = add(to.units, units)
  to.facts += facts
  to.counted += counted
}

function sumsOf(map: Map<string, Sums>, key: string): Sums {
  const found = map.get(key) ?? noSums()
  map.set(key, found)
  return found
}

/** A rule of a version and what facts came to under it. */
export interface RuleTally {
  readonly version: Version
  readonly rule: CompiledRule
  readonly tally: Tally
  readonly kept: KeptSums
}

/** What the facts of one period come to for one affiliate. */
export interface AffiliateTallies {
  /** Bases and units of its own rules. */
  readonly ownRules: Map<CompiledRule, RuleTally>
  /** Bases that only measure a tier (`by`), over the facts of the plan. */
  readonly measures: Map<CompiledRule, RuleTally>
  /** Measures over the facts of affiliates below. */
  readonly network: Map<CompiledRule, RuleTally>
  /** Overrides over facts, by the affiliate below. */
  readonly overrides: Map<CompiledRule, Map<string, RuleTally>>
  /** Customers who qualified in the period. */
  readonly once: OnceState[]
  /** Facts of each rule that wait, by reason and currency. */
  readonly holds: Map<CompiledRule, RuleHolds>
  /** Facts of the measures of each rule that wait. They matter if the rule has a line. */
  readonly measureHolds: Map<CompiledRule, RuleHolds>
}

/** Facts of a rule that wait: how many, and what they sum to as sent. */
export interface Hold {
  readonly reason: HoldReason
  readonly currency: string | null
  count: number
  sum: Decimal
}

/** Facts of a rule that wait. */
interface RuleHolds {
  readonly version: Version
  readonly byReason: Map<string, Hold>
}

/** Returns of how many customers there are sums or a qualification: each may have a line. */
export const customersIn = (tallies: AffiliateTallies | undefined): number =>
  [...(tallies?.ownRules.values() ?? [])].reduce(
    (most, { tally }) => Math.max(most, tally.customers.size),
    tallies?.once.length ?? 0,
  )

/** By affiliate. */
export type PeriodTallies = Map<string, AffiliateTallies>

/** Returns an affiliate's tallies, which are empty at first. */
export function talliesOf(tallies: PeriodTallies, affiliate: string): AffiliateTallies {
  const known = tallies.get(affiliate)
  if (known) return known
  const created: AffiliateTallies = {
    ownRules: new Map(),
    measures: new Map(),
    network: new Map(),
    overrides: new Map(),
    once: [],
    holds: new Map(),
    measureHolds: new Map(),
  }
  tallies.set(affiliate, created)
  return created
}

/** Returns the tally with a key, which is empty at first. */
function tallyOf<Key>(
  map: Map<Key, RuleTally>,
  key: Key,
  inForce: PlansInForce,
  version: Version,
  rule: CompiledRule,
  terms: KeptSums['terms'] = 'none',
): RuleTally {
  const known = map.get(key)
  if (known) return known
  const kept = { ...keptSums(inForce, version, rule), terms }
  const created = { version, rule, tally: newTally(), kept }
  map.set(key, created)
  return created
}

/** A fact whose amount waits for a rate or a currency, under a rule of an affiliate. */
interface WaitingFact {
  readonly affiliate: string
  readonly version: Version
  readonly rule: CompiledRule
  readonly fact: Fact
  readonly field: string
  readonly currency: string | null
  readonly reason: HoldReason
  /** Whether the rule pays for the fact, or only its tiers measure it. */
  readonly purpose: 'paid' | 'measure'
}

/**
 * Returns a function that adds the waiting facts of one customer to the holds. Under a rule, a fact
 * counts once for each reason and currency, and each of its amounts is added once, even if several terms
 * name it. Call it for paid facts first, then for measured ones.
 */
function holdFacts(tallies: PeriodTallies): (waiting: WaitingFact) => void {
  const listed = new Map<CompiledRule, Map<Fact, Set<string>>>()
  return (waiting) => {
    const { affiliate, fact, field, purpose, rule, reason, currency } = waiting
    const ofRule = listed.get(rule) ?? new Map<Fact, Set<string>>()
    listed.set(rule, ofRule)
    const ofFact = ofRule.get(fact) ?? new Set<string>()
    ofRule.set(fact, ofFact)
    const counted = JSON.stringify([affiliate, reason, currency])
    const added = counted + field
    if (ofFact.has(added)) return
    const { holds, measureHolds } = talliesOf(tallies, affiliate)
    const hold = holdOf(purpose === 'measure' ? measureHolds : holds, waiting)
    if (!ofFact.has(counted)) hold.count += fact.count
    ofFact.add(counted).add(added)
    hold.sum = add(hold.sum, fromFact(amountOf(fact, field)))
  }
}

function holdOf(
  holds: Map<CompiledRule, RuleHolds>,
  { rule, version, reason, currency }: WaitingFact,
): Hold {
  const key = `${reason}|${currency ?? ''}`
  const ofRule = holds.get(rule) ?? { version, byReason: new Map<string, Hold>() }
  holds.set(rule, ofRule)
  const hold = ofRule.byReason.get(key) ?? { reason, currency, count: 0, sum: ZERO }
  ofRule.byReason.set(key, hold)
  return hold
}

/** What one customer's facts came to under the rules that they entered. */
export type CustomerTallies = Map<RuleTally, CustomerTally>

/**
 * Adds the facts of one customer in the period to the tallies of every affiliate that earns from them.
 * Returns the customer's share of each tally.
 */
export function reduceCustomer(
  context: PeriodContext,
  tallies: PeriodTallies,
  evaluated: EvaluatedCustomer,
  uplineRulesOf: (affiliate: string) => readonly UplineRule[],
): CustomerTallies {
  const { period, rates } = context
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
  for (const [{ tally, version, kept }, one] of customerTallies) {
    addCustomer(tally, customer.customer_id, one, version, kept, rates)
  }
  return customerTallies
}

/**
 * Returns which sums of a rule are kept. Those of each customer are, if a line or a fence is for one,
 * or if tiers of the plan count active customers.
 */
function keptSums(
  inForce: PlansInForce,
  version: Version,
  rule: CompiledRule,
): Omit<KeptSums, 'terms'> {
  const per = rule.kind === 'share' ? rule.per : 'affiliate'
  const isFenced = rule.kind === 'share' && rule.source.fence !== undefined
  const countsActive = [version, ...versionsOf(inForce, version.plan)].some(({ rules }) =>
    rules.some(({ tiers }) => tiers?.by === 'active'),
  )
  return { per, customers: per === 'customer' || isFenced || countsActive }
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
const isSummed = (
  customer: Customer,
  rule: CompiledRule,
  { conditional }: TallySource,
  term: CompiledTerm | CompiledUnit,
  fact: Fact,
): boolean =>
  term.names(fact) && excludedBy(customer, conditional ? rule : null, term, fact) === null

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

const NO_SOURCE: TallySource = { purpose: 'paid', base: null, unit: null, conditional: false }

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
      const target = tallyOf(ofUpline.network, rule, context.inForce, earning, rule)
      enter(upline, target, measureSource(rule))
    } else {
      const byAffiliate = ofUpline.overrides.get(rule) ?? new Map<string, RuleTally>()
      ofUpline.overrides.set(rule, byAffiliate)
      const terms = termsKept(context, upline, earning)
      const target = tallyOf(byAffiliate, affiliate, context.inForce, earning, rule, terms)
      enter(upline, target, ownSource(rule))
    }
  }
  return entries
}

/** Enters facts into a tally of the affiliate that earns from it. */
type Enter = (earner: string, target: RuleTally, source: TallySource) => void

/** Returns which sums the steps of an affiliate's lines need. Days fill the memory: open periods have them, and corrected ones. */
const termsKept = ({ isExplained }: PeriodContext, affiliate: string, { plan }: Version) =>
  isExplained?.(affiliate, plan) ? 'by day' : 'all'

/** Enters facts of a plan into the rules of its version, and into the measures of all versions. */
function enterOwnRules(
  context: PeriodContext,
  tallies: AffiliateTallies,
  affiliate: string,
  version: Version,
  enter: Enter,
): void {
  const { inForce } = context
  const terms = termsKept(context, affiliate, version)
  for (const rule of version.rules) {
    if (rule.kind === 'share' || rule.kind === 'unit') {
      const target = tallyOf(tallies.ownRules, rule, inForce, version, rule, terms)
      enter(affiliate, target, ownSource(rule))
    }
  }
  for (const other of versionsOf(inForce, version.plan)) {
    for (const rule of other.rules) {
      const by = rule.tiers?.by
      if (!by || typeof by !== 'object' || !('terms' in by)) continue
      if (!version.rules.some(({ id }) => id === rule.id)) continue
      const purpose = other === version ? 'paid' : 'unlisted'
      const source: TallySource = { purpose, base: by, unit: null, conditional: false }
      enter(affiliate, tallyOf(tallies.measures, rule, inForce, other, rule), source)
    }
  }
}

/** Returns what a rule pays for. */
function ownSource(rule: CompiledRule): TallySource {
  const paid = { purpose: 'paid', base: null, unit: null, conditional: true } as const
  if (rule.kind === 'share') return { ...paid, base: rule.base }
  if (rule.kind === 'unit') return { ...paid, unit: rule.unit }
  if (rule.kind === 'once') return NO_SOURCE
  if ('base' in rule.of) return { ...paid, base: rule.of.base }
  return 'unit' in rule.of ? { ...paid, unit: rule.of.unit } : NO_SOURCE
}

/** What a rule's tiers measure over the network. */
function measureSource(rule: CompiledRule): TallySource {
  const by = rule.tiers?.by ?? null
  const purpose = 'measure'
  if (by === null || by === 'active') return { ...ownSource(rule), purpose }
  return 'once' in by ? NO_SOURCE : { purpose, base: by, unit: null, conditional: false }
}
