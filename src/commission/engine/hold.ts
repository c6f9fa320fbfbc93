import { add, fromFact, ZERO } from './decimal.ts'
import { amountOf, type Fact } from './facts.ts'
import type { Version } from './plans-in-force.ts'
import type { HoldReason } from './reasons.ts'
import type { CompiledRule } from './rules.ts'
import { type Hold, type PeriodTallies, type RuleHolds, talliesOf } from './tallies.ts'

/** A fact whose amount waits for a rate or a currency, under a rule of an affiliate. */
export interface WaitingFact {
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
