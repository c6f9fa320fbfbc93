import { type Version, versionsOf } from './book.ts'
import type { PeriodContext } from './context.ts'
import type { Fact } from './facts.ts'
import { holdFacts, type WaitingFact } from './hold.ts'
import { judgeTerm } from './judge.ts'
import type { JudgedCustomer } from './judged.ts'
import type { CompiledRule } from './rules.ts'
import {
  type AffiliateTallies,
  overrideTallyOf,
  type PeriodTallies,
  type RuleTally,
  talliesOf,
  tallyOf,
} from './tallies.ts'
import { addCustomer, addToGroup, addUnits, type CustomerTally, newCustomerTally } from './tally.ts'
import type { CompiledBase, CompiledTerm, CompiledUnit } from './terms.ts'
import type { UplineRule } from './uplines.ts'

/** What a rule sums: a base or units, and whether its `when` and `months` bind the facts. */
interface Source {
  /** `unlisted`: the measure of another version, whose own rule lists what waits. */
  readonly purpose: WaitingFact['purpose'] | 'unlisted'
  readonly base: CompiledBase | null
  readonly unit: CompiledUnit | null
  readonly bound: boolean
}

const NOTHING: Source = { purpose: 'paid', base: null, unit: null, bound: false }

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
  const hold = holdFacts(tallies)
  addOnce(context, tallies, judged, hold)
  for (const fact of judged.customer.facts) {
    if (fact.day < period.first || fact.day > period.last || fact.state !== 'approved') continue
    const { affiliate, version, reason } = judged.ownerOf(fact)
    if (affiliate === null || (reason !== null && reason !== 'no_plan')) continue
    const enter: Enter = (earner, target, source) =>
      addFact(context, judged, own, { earner, target, source, hold }, fact)
    if (version?.period === period.kind) {
      enterOwnRules(context, talliesOf(tallies, affiliate), affiliate, version, enter)
    }
    for (const entry of uplineRulesOf(affiliate)) {
      const { upline, version: earning, rule } = entry
      const ofUpline = talliesOf(tallies, upline)
      if (entry.purpose === 'network') {
        enter(upline, tallyOf(ofUpline.network, earning, rule), measureSource(rule))
      } else {
        enter(upline, overrideTallyOf(ofUpline, earning, rule, affiliate), ownSource(rule))
      }
    }
  }
  for (const [{ tally, version, rule }, one] of own) {
    const per = rule.kind === 'share' ? rule.per : 'affiliate'
    addCustomer(tally, judged.customer.customer_id, one, version, per, context.rates)
  }
  return own
}

/** Enters a fact into a tally of the affiliate that earns by it. */
type Enter = (earner: string, target: RuleTally, source: Source) => void

/** Adds a fact of a plan to the rules of its version, and to the measures of all versions. */
function enterOwnRules(
  { book }: PeriodContext,
  tallies: AffiliateTallies,
  affiliate: string,
  version: Version,
  enter: Enter,
): void {
  for (const rule of version.rules) {
    if (rule.kind === 'share' || rule.kind === 'unit') {
      enter(affiliate, tallyOf(tallies.own, version, rule), ownSource(rule))
    }
  }
  for (const other of versionsOf(book, version.plan)) {
    for (const rule of other.rules) {
      const by = rule.tiers?.by
      const hasRule = version.rules.some(({ id }) => id === rule.id)
      if (hasRule && by && typeof by === 'object' && 'terms' in by) {
        const purpose = other === version ? 'paid' : 'unlisted'
        const source: Source = { purpose, base: by, unit: null, bound: false }
        enter(affiliate, tallyOf(tallies.measures, other, rule), source)
      }
    }
  }
}

const ownSources = new WeakMap<CompiledRule, Source>()

/** Returns what a rule pays for. */
function ownSource(rule: CompiledRule): Source {
  const found = ownSources.get(rule) ?? findOwnSource(rule)
  ownSources.set(rule, found)
  return found
}

function findOwnSource(rule: CompiledRule): Source {
  const bound = { purpose: 'paid', base: null, unit: null, bound: true } as const
  if (rule.kind === 'share') return { ...bound, base: rule.base }
  if (rule.kind === 'unit') return { ...bound, unit: rule.unit }
  if (rule.kind === 'once') return NOTHING
  if ('base' in rule.of) return { ...bound, base: rule.of.base }
  return 'unit' in rule.of ? { ...bound, unit: rule.of.unit } : NOTHING
}

/** What a rule's tiers measure over the network. */
function measureSource(rule: CompiledRule): Source {
  const by = rule.tiers?.by ?? null
  const purpose = 'measure'
  if (by === null || by === 'active') return { ...ownSource(rule), purpose }
  return 'once' in by ? NOTHING : { purpose, base: by, unit: null, bound: false }
}

const UNBOUND: Pick<CompiledRule, 'when' | 'months'> = { when: () => null, months: null }

interface Entry {
  readonly earner: string
  readonly target: RuleTally
  readonly source: Source
  readonly hold: (waiting: WaitingFact) => void
}

/** Adds a fact to a tally if the rule names it, its conditions hold and its amount converts. */
function addFact(
  context: PeriodContext,
  { customer }: JudgedCustomer,
  own: CustomerTallies,
  { earner, target, source, hold }: Entry,
  fact: Fact,
): void {
  const { version, rule } = target
  const { base, unit, bound, purpose } = source
  const one = own.get(target) ?? newCustomerTally()
  own.set(target, one)
  const limits = bound ? rule : UNBOUND
  const holds = (term: CompiledTerm | CompiledUnit): boolean =>
    term.names(fact) &&
    judgeTerm(context, customer, version, limits, term, fact, false).verdict === 'counted'
  if (unit && holds(unit)) addUnits(one, unit, fact)
  base?.terms.forEach((term, index) => {
    if (!holds(term)) return
    const reason = addToGroup(one, index, term, fact, version.currency, context.rates)
    if (reason === null) return
    const { field } = term
    const currency = term.currencyOf(fact)
    if (purpose === 'unlisted') return
    hold({ affiliate: earner, version, rule, fact, field, currency, reason, purpose })
  })
}

/** Adds who qualified in the period, and the facts of the period for which a rule waits. */
function addOnce(
  { period }: PeriodContext,
  tallies: PeriodTallies,
  judged: JudgedCustomer,
  hold: (waiting: WaitingFact) => void,
): void {
  for (const state of judged.qualified.values()) {
    const { version, day, affiliate } = state
    if (version.period !== period.kind || affiliate === null) continue
    if (day >= period.first && day <= period.last) talliesOf(tallies, affiliate).once.push(state)
  }
  for (const { version, rule, affiliate, trigger, blockers } of judged.once) {
    if (trigger === null || affiliate === null || version.period !== period.kind) continue
    if (judged.qualified.has(rule.id)) continue
    for (const blocker of blockers) {
      const day = Math.max(blocker.fact.day, trigger.day)
      if (day < period.first || day > period.last) continue
      hold({ affiliate, version, rule, purpose: 'paid', ...blocker })
    }
  }
}
