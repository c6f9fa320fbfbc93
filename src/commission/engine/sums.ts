import { memoize } from '../../platform/memoize.ts'
import {
  add,
  type Decimal,
  fromFact,
  multiply,
  PLACES,
  powerOfTen,
  ZERO,
} from '../../platform/money/decimal.ts'
import { convertUnits } from '../../platform/money/exchange.ts'
import type { HoldReason } from '../shapes/reasons.ts'
import type { Account, InPeriod } from './account.ts'
import { amountOf, type Fact } from './facts.ts'
import {
  type Entry,
  type EvaluatedCustomer,
  entriesIn,
  type JudgedTerm,
  judge,
  type Sink,
} from './judge.ts'
import type { OnceState } from './once.ts'
import { type PlansInForce, type Version, versionsOf } from './plans-in-force.ts'
import type { CompiledRule } from './rules.ts'
import type { CompiledTerm } from './terms.ts'

// What the facts of a period come to, from which lines are made: the sums of each rule, and what waits for a rate.

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
interface DaySum {
  sums: number
  units: bigint
  converted: bigint
}

/** What facts come to under a rule of a version: by customer, by product and in all. */
export interface RuleSums {
  readonly version: Version
  readonly rule: CompiledRule
  readonly per: 'affiliate' | 'customer' | 'product'
  readonly total: Sums
  /** Empty if nothing needs the sums of each customer. */
  readonly customers: Map<string, Sums>
  readonly products: Map<string, Sums>
  /** By scope (`""`, a customer or a product). Empty if no line is made of the sums. */
  readonly terms: Map<string, TermSum[]>
}

/** What the facts of one period come to for one affiliate. */
export interface AffiliateSums {
  /** Bases and units of its own rules. */
  readonly ownRules: Map<CompiledRule, RuleSums>
  /** Bases that only measure a tier (`by`), over the facts of the plan. */
  readonly measures: Map<CompiledRule, RuleSums>
  /** Measures over the facts of affiliates below. */
  readonly network: Map<CompiledRule, RuleSums>
  /** Overrides over facts, by the affiliate below. */
  readonly overrides: Map<CompiledRule, Map<string, RuleSums>>
  /** Customers who qualified in the period. */
  readonly once: OnceState[]
  /** Facts of each rule that wait, by reason and currency. */
  readonly holds: Map<CompiledRule, RuleHolds>
  /** Facts of the measures of each rule that wait. They matter if the rule has a line. */
  readonly measureHolds: Map<CompiledRule, RuleHolds>
}

/** Facts of a rule that wait. */
interface RuleHolds {
  readonly version: Version
  readonly byReason: Map<string, Hold>
}

/** Facts of a rule that wait: how many, and what they sum to as sent. */
interface Hold {
  readonly reason: HoldReason
  readonly currency: string | null
  count: number
  sum: Decimal
}

/** By affiliate. */
export type PeriodSums = Map<string, AffiliateSums>

/** Returns an affiliate's sums, which are empty at first. */
export function sumsOf(sums: PeriodSums, affiliate: string): AffiliateSums {
  const known = sums.get(affiliate)
  if (known) return known
  const created: AffiliateSums = {
    ownRules: new Map(),
    measures: new Map(),
    network: new Map(),
    overrides: new Map(),
    once: [],
    holds: new Map(),
    measureHolds: new Map(),
  }
  sums.set(affiliate, created)
  return created
}

/** Returns of how many customers there are sums or a qualification: each may have a line. */
export const customersIn = (sums: AffiliateSums | undefined): number =>
  [...(sums?.ownRules.values() ?? [])].reduce(
    (most, { customers }) => Math.max(most, customers.size),
    sums?.once.length ?? 0,
  )

/** The facts of a line: how many, of how many customers, and what they come to by term and currency. */
export interface LineFacts {
  readonly records: number
  readonly customers: number
  readonly terms: readonly TermSum[]
}

/** Returns the facts of a line; `name` is its customer or product, or empty. */
export function factsOf(from: RuleSums | null, name: string): LineFacts {
  if (from === null) return { records: 0, customers: 0, terms: [] }
  const { per, total, customers, products, terms } = from
  const own = per === 'affiliate' ? total : (per === 'customer' ? customers : products).get(name)
  return { records: own?.facts ?? 0, customers: own?.counted ?? 0, terms: terms.get(name) ?? [] }
}

/** An amount in its own currency, and converted. */
export interface Fx {
  readonly amount: Decimal
  readonly converted: Decimal
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

/**
 * Returns a function that adds the facts of a customer, evaluated as of the end of the period, to the sums of every
 * affiliate that earns from them.
 *
 * @param isExplained Whether steps of lines of an affiliate and plan name each day. Days fill the memory: those of open
 * periods do, and corrected ones.
 */
export function newSums(
  account: InPeriod,
  sums: PeriodSums,
  isExplained: (affiliate: string, plan: string) => boolean,
): (evaluated: EvaluatedCustomer) => void {
  const { first, last } = account.period
  /** Several entries may add to the same sums: a customer who moves stays below the same uplines. */
  const byTarget = new Map<RuleSums, Share>()
  const shareOf = memoize((entry: Entry): Share => {
    const target = targetOf(sumsOf(sums, entry.earner), entry)
    const share = byTarget.get(target) ?? newShare(account, target, entry, isExplained)
    byTarget.set(target, share)
    return share
  })
  let open: Share[] = []
  let hold = holding(sums)
  const sink: Sink = {
    entriesOf: entriesIn(account),
    counts(entry, term, fact, converted) {
      const share = shareOf(entry)
      if (share.records === 0) open.push(share)
      addFact(share, term, fact, converted)
    },
    refuses(entry, term, fact, reason) {
      if (entry === null || term === null || entry.purpose === 'other measure') return
      if (reason !== 'no_currency' && reason !== 'fx_pending' && reason !== 'fx_missing') return
      const { field } = term
      hold(entry, { fact, field, currency: term.currencyOf(fact), reason })
    },
  }
  return (evaluated) => {
    const { customer_id, facts } = evaluated.customer
    open = []
    hold = holding(sums)
    addOnce(account, sums, evaluated, hold)
    for (const fact of facts) {
      if (fact.day >= first && fact.day <= last) judge(account, evaluated, fact, sink)
    }
    for (const share of open) addCustomer(account, share, customer_id)
  }
}

/** Adds who qualified in the period, and the facts of the period for which a rule waits. */
function addOnce(
  { period }: InPeriod,
  sums: PeriodSums,
  { once, qualified }: EvaluatedCustomer,
  hold: ReturnType<typeof holding>,
): void {
  for (const state of qualified.values()) {
    const { version, day, affiliate } = state
    if (version.period !== period.kind || affiliate === null) continue
    if (day >= period.first && day <= period.last) sumsOf(sums, affiliate).once.push(state)
  }
  for (const { version, rule, affiliate, trigger, blockers } of once) {
    if (trigger === null || affiliate === null || version.period !== period.kind) continue
    if (qualified.has(rule.id)) continue
    for (const blocker of blockers) {
      const day = Math.max(blocker.fact.day, trigger.day)
      if (day < period.first || day > period.last) continue
      hold({ earner: affiliate, below: null, version, rule, purpose: 'paid' }, blocker)
    }
  }
}

/** A fact whose amount waits for a rate or a currency. */
interface WaitingFact extends Pick<Hold, 'reason' | 'currency'> {
  readonly fact: Fact
  readonly field: string
}

/**
 * Returns a function that adds the waiting facts of one customer to the holds. Under a rule, a fact counts once for each
 * reason and currency, for that which is paid before that which is measured, and each of its amounts is added once, even
 * if several terms name it.
 */
function holding(sums: PeriodSums) {
  const listed = new Map<CompiledRule, Map<Fact, Set<string>>>()
  return (
    { earner, below, version, rule, purpose }: Omit<Entry, 'terms' | 'isConditional'>,
    { fact, field, currency, reason }: WaitingFact,
  ): void => {
    const ofRule = listed.get(rule) ?? new Map<Fact, Set<string>>()
    listed.set(rule, ofRule)
    const ofFact = ofRule.get(fact) ?? new Set<string>()
    ofRule.set(fact, ofFact)
    const counted = JSON.stringify([earner, reason, currency])
    const added = counted + field
    if (ofFact.has(added)) return
    const isBelow = purpose === 'measure' && below !== null
    const holds = sumsOf(sums, earner)[isBelow ? 'measureHolds' : 'holds']
    const { byReason } = holds.get(rule) ?? { byReason: new Map<string, Hold>() }
    holds.set(rule, { version, byReason })
    const key = `${reason}|${currency ?? ''}`
    const held = byReason.get(key) ?? { reason, currency, count: 0, sum: ZERO }
    byReason.set(key, held)
    if (!ofFact.has(counted)) held.count += fact.count
    ofFact.add(counted).add(added)
    held.sum = add(held.sum, fromFact(amountOf(fact, field)))
  }
}

/**
 * Facts of one customer that convert together: those of one term, product, day and currency (§16.16).
 * Facts that `amount_usd` converts are in `alone`.
 */
interface Group {
  readonly term: CompiledTerm
  readonly product: string | null
  readonly day: number
  readonly currency: string
  count: number
  units: bigint
  alone: bigint
  aloneConverted: bigint
}

/** What the facts of the present customer come to under a rule, before conversion. */
interface Share {
  readonly to: RuleSums
  /** Whether the sums of each customer are needed. */
  readonly keepsCustomers: boolean
  /** Whether a line is made of the sums, so that its steps name those of each term, or also of each day. */
  readonly keepsTerms: 'none' | 'all' | 'by day'
  readonly groups: Group[]
  /** The counted records of each product, if the rule pays by product. */
  readonly products: Map<string, number>
  units: bigint
  records: number
  /** The last fact that was counted. */
  latest: Fact | null
}

/** Returns the sums to which an entry adds. */
function targetOf(sums: AffiliateSums, { purpose, below, version, rule }: Entry): RuleSums {
  if (purpose !== 'paid')
    return ruleSumsIn(below === null ? sums.measures : sums.network, rule, version, rule)
  if (below === null) return ruleSumsIn(sums.ownRules, rule, version, rule)
  const byAffiliate = sums.overrides.get(rule) ?? new Map<string, RuleSums>()
  sums.overrides.set(rule, byAffiliate)
  return ruleSumsIn(byAffiliate, below, version, rule)
}

function ruleSumsIn<Key>(map: Map<Key, RuleSums>, key: Key, version: Version, rule: CompiledRule) {
  const known = map.get(key)
  if (known) return known
  const per = rule.kind === 'share' ? rule.per : 'affiliate'
  const created: RuleSums = {
    version,
    rule,
    per,
    total: noSums(),
    customers: new Map(),
    products: new Map(),
    terms: new Map(),
  }
  map.set(key, created)
  return created
}

/** Returns the share of a rule without facts. */
const newShare = (
  { inForce }: Account,
  to: RuleSums,
  { earner, version, purpose }: Entry,
  isExplained: (affiliate: string, plan: string) => boolean,
): Share => ({
  to,
  keepsCustomers: needsCustomers(inForce, to),
  keepsTerms: purpose !== 'paid' ? 'none' : isExplained(earner, version.plan) ? 'by day' : 'all',
  groups: [],
  products: new Map(),
  units: 0n,
  records: 0,
  latest: null,
})

/** Whether a line or a fence is for one customer, or tiers of the plan count active customers. */
function needsCustomers(inForce: PlansInForce, { version, rule, per }: RuleSums): boolean {
  const isFenced = rule.kind === 'share' && rule.source.fence !== undefined
  const countsActive = [version, ...versionsOf(inForce, version.plan)].some(({ rules }) =>
    rules.some(({ tiers }) => tiers?.by === 'active'),
  )
  return per === 'customer' || isFenced || countsActive
}

/** Adds a fact. All terms look at a fact before any looks at the next, so that a fact of several counts once. */
function addFact(share: Share, term: JudgedTerm, fact: Fact, converted: bigint | null): void {
  if ('counts' in term) {
    share.units += term.counts
      ? BigInt(fact.count) * powerOfTen(PLACES)
      : amountOf(fact, term.field)
  } else {
    const group = groupOf(share, term, fact)
    const amount = amountOf(fact, term.field)
    group.count += fact.count
    if (converted === null) group.units += amount
    else {
      group.alone += amount
      group.aloneConverted += converted
    }
  }
  if (share.latest === fact) return
  share.latest = fact
  share.records += fact.count
  if (share.to.per !== 'product') return
  const product = fact.product ?? ''
  share.products.set(product, (share.products.get(product) ?? 0) + fact.count)
}

/** Returns the group of a fact under a term, which is empty at first. A customer has few, and most facts belong to the last. */
function groupOf({ groups }: Share, term: CompiledTerm, fact: Fact): Group {
  const { product, day } = fact
  const currency = term.currencyOf(fact) ?? ''
  for (let i = groups.length - 1; i >= 0; i--) {
    const one = groups[i]
    if (one?.day !== day || one.term !== term) continue
    if (one.currency === currency && one.product === product) return one
  }
  const empty = { count: 0, units: 0n, alone: 0n, aloneConverted: 0n }
  const group: Group = { term, product, day, currency, ...empty }
  groups.push(group)
  return group
}

/** Adds what a customer's facts came to, and empties the share for the next customer. */
function addCustomer({ rates }: Account, share: Share, customer: string): void {
  const { to, keepsCustomers, keepsTerms, groups, products, units, records } = share
  const { per, version } = to
  let base = ZERO
  const byProduct = new Map<string, Decimal>()
  for (const group of groups) {
    const { term, currency, day, product } = group
    const rated = convertUnits(group.units, currency, version.currency, day, rates)
    const converted = typeof rated === 'string' ? 0n : rated
    const own = multiply(fromFact(converted + group.aloneConverted), term.weight)
    base = add(base, own)
    const name = per === 'product' ? (product ?? '') : ''
    if (per === 'product') byProduct.set(name, add(byProduct.get(name) ?? ZERO, own))
    if (keepsTerms === 'none') continue
    const byDay = keepsTerms === 'by day' && currency !== version.currency
    const scope = per === 'customer' ? customer : name
    addGroup(termSumOf(to, scope, group, byDay), group, converted)
  }
  for (const [product, own] of byProduct) {
    const facts = products.get(product) ?? 0
    addSums(sumsIn(to.products, product), { base: own, units: ZERO, facts, counted: 1 })
  }
  const sums: Sums = { base, units: fromFact(units), facts: records, counted: 1 }
  if (keepsCustomers) addSums(sumsIn(to.customers, customer), sums)
  addSums(to.total, sums)
  groups.length = 0
  products.clear()
  share.units = 0n
  share.records = 0
  share.latest = null
}

/** Returns the sum of a group's term and currency in a scope, which is empty at first. */
function termSumOf(
  { terms }: RuleSums,
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

/** Returns sums of 0. */
const noSums = (): Sums => ({ base: ZERO, units: ZERO, facts: 0, counted: 0 })

function addSums(to: Sums, { base, units, facts, counted }: Sums): void {
  to.base = add(to.base, base)
  to.units = add(to.units, units)
  to.facts += facts
  to.counted += counted
}

function sumsIn(map: Map<string, Sums>, key: string): Sums {
  const found = map.get(key) ?? noSums()
  map.set(key, found)
  return found
}
