import type { Version } from './book.ts'
import type { PeriodContext } from './context.ts'
import { add, type Decimal, fromFact, ZERO } from './decimal.ts'
import type { Fact } from './facts.ts'
import { type JudgedCustomer, judgeTerm } from './judge.ts'
import type { Blocker } from './qualify.ts'
import type { CompiledRule } from './rules.ts'
import {
  type AffiliateTallies,
  overrideTallyOf,
  type PeriodTallies,
  type RuleTally,
  talliesOf,
  tallyOf,
} from './tallies.ts'
import {
  addCustomer,
  addHold,
  addToGroup,
  addUnits,
  type CustomerTally,
  newCustomerTally,
} from './tally.ts'
import type { CompiledBase, CompiledUnit } from './terms.ts'
import type { UplineRule } from './uplines.ts'

/** What a rule sums: a base or units, and whether its `when` and `months` bind the facts. */
interface Source {
  readonly base: CompiledBase | null
  readonly unit: CompiledUnit | null
  readonly bound: boolean
}

const NOTHING: Source = { base: null, unit: null, bound: false }

/** What one customer's facts came to under the rules that they entered. */
export type CustomerTallies = Map<RuleTally, CustomerTally>

/**
 * Adds the facts of one customer in the period to the tallies of every affiliate that earns by them.
 * Returns the customer's share of each tally, for explanations.
 */
export function reduceCustomer(
  context: PeriodContext,
  tallies: PeriodTallies,
  judged: JudgedCustomer,
  uplineRulesOf: (affiliate: string) => readonly UplineRule[],
): CustomerTallies {
  const { period } = context
  const own: CustomerTallies = new Map()
  for (const fact of judged.customer.facts) {
    if (fact.day < period.first || fact.day > period.last || fact.state !== 'approved') continue
    const { affiliate, version, reason } = judged.ownerOf(fact)
    if (affiliate === null || (reason !== null && reason !== 'no_plan')) continue
    const enter = (target: RuleTally, source: Source): void =>
      addFact(context, judged, own, target, source, fact)
    if (version?.period === period.kind) {
      enterOwnRules(context, talliesOf(tallies, affiliate), version, enter)
    }
    for (const entry of uplineRulesOf(affiliate)) {
      const ofUpline = talliesOf(tallies, entry.upline)
      if (entry.purpose === 'network') {
        enter(tallyOf(ofUpline.network, entry.version, entry.rule), measureSource(entry.rule))
      } else {
        enter(
          overrideTallyOf(ofUpline, entry.version, entry.rule, affiliate),
          ownSource(entry.rule),
        )
      }
    }
  }
  for (const [{ tally, version, rule }, one] of own) {
    const per = rule.kind === 'share' ? rule.per : 'affiliate'
    addCustomer(tally, judged.customer.customer_id, one, version, per, context.rates)
  }
  addOnce(context, tallies, judged)
  return own
}

/** Adds a fact of a plan to the rules of its version, and to the measures of all versions. */
function enterOwnRules(
  { book }: PeriodContext,
  tallies: AffiliateTallies,
  version: Version,
  enter: (target: RuleTally, source: Source) => void,
): void {
  for (const rule of version.rules) {
    if (rule.kind === 'share' || rule.kind === 'unit') {
      enter(tallyOf(tallies.own, version, rule), ownSource(rule))
    }
  }
  for (const other of book.plans.get(version.plan)?.versions ?? []) {
    for (const rule of other.rules) {
      const by = rule.tiers?.by
      if (by && typeof by === 'object' && 'terms' in by) {
        enter(tallyOf(tallies.measures, other, rule), { base: by, unit: null, bound: false })
      }
    }
  }
}

/** What a rule pays for. */
function ownSource(rule: CompiledRule): Source {
  if (rule.kind === 'share') return { base: rule.base, unit: null, bound: true }
  if (rule.kind === 'unit') return { base: null, unit: rule.unit, bound: true }
  if (rule.kind === 'once') return NOTHING
  if ('base' in rule.of) return { base: rule.of.base, unit: null, bound: true }
  return 'unit' in rule.of ? { base: null, unit: rule.of.unit, bound: true } : NOTHING
}

/** What a rule's tiers measure over the network. */
function measureSource(rule: CompiledRule): Source {
  const by = rule.tiers?.by ?? null
  if (by === null || by === 'active') return ownSource(rule)
  return 'once' in by ? NOTHING : { base: by, unit: null, bound: false }
}

const UNBOUND: Pick<CompiledRule, 'when' | 'months'> = { when: () => null, months: null }

/** Adds a fact to a tally if the rule names it, its conditions hold and its amount converts. */
function addFact(
  context: PeriodContext,
  { customer }: JudgedCustomer,
  own: CustomerTallies,
  target: RuleTally,
  { base, unit, bound }: Source,
  fact: Fact,
): void {
  const { version, rule, tally } = target
  const one = own.get(target) ?? newCustomerTally()
  own.set(target, one)
  const limits = bound ? rule : UNBOUND
  if (unit?.names(fact)) {
    const { verdict } = judgeTerm(context, customer, version, limits, unit, fact, false)
    if (verdict === 'counted') addUnits(one, unit, fact)
  }
  const waiting = new Map<
    string,
    { reason: Blocker['reason']; currency: string | null; sum: Decimal }
  >()
  base?.terms.forEach((term, index) => {
    if (!term.names(fact)) return
    const { verdict } = judgeTerm(context, customer, version, limits, term, fact, false)
    if (verdict !== 'counted') return
    const reason = addToGroup(one, index, term, fact, version.currency, context.rates)
    if (reason === null) return
    const currency = term.currencyOf(fact)
    const key = `${reason}|${currency ?? ''}`
    const sum = add(waiting.get(key)?.sum ?? ZERO, fromFact(fact.amounts.get(term.field) ?? 0n))
    waiting.set(key, { reason, currency, sum })
  })
  for (const { reason, currency, sum } of waiting.values()) {
    addHold(tally.holds, reason, currency, fact.count, sum)
  }
}

/** Adds who qualified in the period, and the facts of the period for which a rule waits. */
function addOnce({ period }: PeriodContext, tallies: PeriodTallies, judged: JudgedCustomer): void {
  for (const state of judged.qualified.values()) {
    const { version, day, affiliate } = state
    if (version.period !== period.kind || affiliate === null) continue
    if (day >= period.first && day <= period.last) talliesOf(tallies, affiliate).once.push(state)
  }
  for (const state of judged.once) {
    const { version, rule, affiliate, status } = state
    if (status !== 'blocked' || affiliate === null || version.period !== period.kind) continue
    const waits = new Set<Fact>()
    for (const { fact, field, currency, reason } of state.blockers) {
      if (fact.day < period.first || fact.day > period.last || waits.has(fact)) continue
      waits.add(fact)
      const { onceHolds } = talliesOf(tallies, affiliate)
      const entry = onceHolds.get(rule) ?? { version, holds: new Map() }
      onceHolds.set(rule, entry)
      addHold(entry.holds, reason, currency, fact.count, fromFact(fact.amounts.get(field) ?? 0n))
    }
  }
}
