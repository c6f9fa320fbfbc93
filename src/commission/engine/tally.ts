import { type CountedOwner, fieldsOn, type Owner, type PeriodContext } from './context.ts'
import { conversionOf, convertUnits, type RateLookup } from './convert.ts'
import { add, type Decimal, fromFact, multiply, ZERO } from './decimal.ts'
import type { EvaluatedCustomer } from './evaluate.ts'
import { amountOf, type Customer, type Fact } from './facts.ts'
import type { OnceState } from './once.ts'
import { type PlansInForce, type Version, versionsOf } from './plans-in-force.ts'
import { withinMonths } from './qualify.ts'
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
  /** In order of day. */
  readonly groups: Group[]
  /** The same groups by product: a brand may send any number of products in a day. */
  readonly byProduct: Map<string | null, Group[]>
  units: bigint
  /** The facts that it counts, each once. */
  readonly counted: Fact[]
  records: number
}

/** Returns the tally of a customer without facts. */
export const newCustomerTally = (): CustomerTally => ({
  groups: [],
  byProduct: new Map(),
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

/** Returns the group of a fact under a term, which is empty at first. Facts come in order of time. */
function groupOf(
  { groups, byProduct }: CustomerTally,
  term: CompiledTerm,
  { product, day }: Fact,
  currency: string,
): Group {
  const ofProduct = byProduct.get(product) ?? []
  for (let i = ofProduct.length - 1; i >= 0; i--) {
    const group = ofProduct[i]
    if (!group || group.day < day) break
    if (group.day === day && group.term === term && group.currency === currency) return group
  }
  const empty = { count: 0, units: 0n, alone: 0n, aloneConverted: 0n }
  const created: Group = { term, product, day, currency, ...empty }
  insertByDay(groups, created)
  insertByDay(ofProduct, created)
  byProduct.set(product, ofProduct)
  return created
}

/** Inserts a group after those of its day. */
function insertByDay(groups: Group[], created: Group): void {
  let end = groups.length
  while ((groups[end - 1]?.day ?? created.day) > created.day) end--
  if (end === groups.length) groups.push(created)
  else groups.splice(end, 0, created)
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

/** Converts a group: its sum once, rounded to 12 places, and what `amount_usd` has converted. */
export function convertGroup(group: Group, currency: string, rates: RateLookup): bigint {
  const converted = convertUnits(group.units, group.currency, currency, group.day, rates)
  return group.aloneConverted + (typeof converted === 'string' ? 0n : converted)
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
  /** How many records were counted. */
  facts: number
}

/** What the facts of a rule come to in a period: by customer, by product and in all. */
export interface Tally {
  readonly total: Sums
  readonly customers: Map<string, Sums>
  readonly products: Map<string, Sums>
  /** By scope (`""`, a customer or a product), then by currency. */
  readonly fx: Map<string, Map<string, Fx>>
}

/** Returns sums of 0. */
const noSums = (): Sums => ({ base: ZERO, units: ZERO, facts: 0 })

/** Returns a tally without facts. */
const newTally = (): Tally => ({
  total: noSums(),
  customers: new Map(),
  products: new Map(),
  fx: new Map(),
})

/** What the groups of a term, product and currency come to on all days. Integers are of 10^-12. */
interface TermTotal {
  readonly term: CompiledTerm
  readonly product: string
  readonly currency: string
  count: number
  amount: bigint
  converted: bigint
}

/** Converts groups, each on its day, and joins the days: a base is linear, so weights can follow. */
function joinDays(
  groups: readonly Group[],
  currency: string,
  rates: RateLookup,
): Iterable<TermTotal[]> {
  const byProduct = new Map<string | null, TermTotal[]>()
  for (const group of groups) {
    const totals = byProduct.get(group.product) ?? []
    if (totals.length === 0) byProduct.set(group.product, totals)
    const total = totalOf(totals, group)
    total.count += group.count
    total.amount += group.units + group.alone
    total.converted += convertGroup(group, currency, rates)
  }
  return byProduct.values()
}

/** Returns the total of a group's term and currency, which is empty at first. */
function totalOf(totals: TermTotal[], { term, product, currency }: Group): TermTotal {
  for (const one of totals) if (one.term === term && one.currency === currency) return one
  const empty = { count: 0, amount: 0n, converted: 0n }
  const created: TermTotal = { term, product: product ?? '', currency, ...empty }
  totals.push(created)
  return created
}

/** How the sums of a rule are kept beside their total. */
interface KeptSums {
  readonly per: 'affiliate' | 'customer' | 'product'
  /** Whether the sums of each customer are needed. */
  readonly customers: boolean
}

/** Adds what one customer's facts came to. */
export function addCustomer(
  tally: Tally,
  customer: string,
  one: CustomerTally,
  version: Version,
  { per, customers }: KeptSums,
  rates: RateLookup,
): void {
  if (one.records === 0) return
  let base = ZERO
  for (const totals of joinDays(one.groups, version.currency, rates)) {
    for (const total of totals) {
      const { term, product, currency, count } = total
      const converted = multiply(fromFact(total.converted), term.weight)
      const amount = multiply(fromFact(total.amount), term.weight)
      base = add(base, converted)
      if (per === 'product') {
        addSums(sumsOf(tally.products, product), { base: converted, units: ZERO, facts: count })
      }
      const scope = per === 'customer' ? customer : per === 'product' ? product : ''
      addFx(tally, scope, currency, { amount, converted })
    }
  }
  const sums: Sums = { base, units: fromFact(one.units), facts: one.records }
  if (customers) addSums(sumsOf(tally.customers, customer), sums)
  addSums(tally.total, sums)
}

function addSums(to: Sums, { base, units, facts }: Sums): void {
  to.base = add(to.base, base)
  to.units = add(to.units, units)
  to.facts += facts
}

function sumsOf(map: Map<string, Sums>, key: string): Sums {
  const found = map.get(key) ?? noSums()
  map.set(key, found)
  return found
}

function addFx({ fx }: Tally, scope: string, currency: string, { amount, converted }: Fx): void {
  const byCurrency = fx.get(scope) ?? new Map<string, Fx>()
  fx.set(scope, byCurrency)
  const known = byCurrency.get(currency)
  byCurrency.set(currency, {
    amount: add(known?.amount ?? ZERO, amount),
    converted: add(known?.converted ?? ZERO, converted),
  })
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
): RuleTally {
  const known = map.get(key)
  if (known) return known
  const kept = keptSums(inForce, version, rule)
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
export function holdFacts(tallies: PeriodTallies): (waiting: WaitingFact) => void {
  // Most customers have nothing that waits.
  let listed: Map<Hold, Map<Fact, Set<string>>> | null = null
  const isListed = (hold: Hold | undefined, fact: Fact, field?: string): boolean => {
    const fields = hold && listed?.get(hold)?.get(fact)
    return fields !== undefined && (field === undefined || fields.has(field))
  }
  return (waiting) => {
    const { fact, field, purpose, rule, reason, currency } = waiting
    const { holds, measureHolds } = talliesOf(tallies, waiting.affiliate)
    const key = `${reason}|${currency ?? ''}`
    const paid = holds.get(rule)?.byReason.get(key)
    const hold = holdOf(purpose === 'measure' ? measureHolds : holds, waiting, key)
    const others = hold === paid ? undefined : paid
    if (isListed(hold, fact, field) || isListed(others, fact, field)) return
    if (!isListed(hold, fact) && !isListed(others, fact)) hold.count += fact.count
    listed ??= new Map()
    const facts = listed.get(hold) ?? new Map<Fact, Set<string>>()
    listed.set(hold, facts)
    facts.set(fact, (facts.get(fact) ?? new Set()).add(field))
    hold.sum = add(hold.sum, fromFact(amountOf(fact, field)))
  }
}

function holdOf(
  holds: Map<CompiledRule, RuleHolds>,
  { rule, version, reason, currency }: WaitingFact,
  key: string,
): Hold {
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
 * Returns the customer's share of each tally, for explanations.
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
function keptSums(inForce: PlansInForce, version: Version, rule: CompiledRule): KeptSums {
  const per = rule.kind === 'share' ? rule.per : 'affiliate'
  const isFenced = rule.kind === 'share' && rule.fence !== null
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
      const target = tallyOf(byAffiliate, affiliate, context.inForce, earning, rule)
      enter(upline, target, ownSource(rule))
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
      enter(affiliate, tallyOf(tallies.ownRules, rule, inForce, version, rule), ownSource(rule))
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
