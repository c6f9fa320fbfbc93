import type { Version } from './book.ts'
import { add, fromFact, ZERO } from './decimal.ts'
import type { Fact } from './facts.ts'
import type { HoldReason } from './reasons.ts'
import type { CompiledRule } from './rules.ts'
import { type Hold, type PeriodTallies, talliesOf } from './tallies.ts'

/** A fact whose amount of a field waits under a rule of an affiliate. */
export interface WaitingFact {
  readonly affiliate: string
  readonly version: Version
  readonly rule: CompiledRule
  readonly fact: Fact
  readonly field: string
  readonly currency: string | null
  readonly reason: HoldReason
}

/**
 * Returns a function that lists what of one customer waits. Under a rule a fact counts once for each
 * reason and currency, and each of its amounts is added once, however many terms name it.
 */
export function holdFacts(tallies: PeriodTallies): (waiting: WaitingFact) => void {
  const listed = new Map<Hold, Map<Fact, Set<string>>>()
  return ({ affiliate, version, rule, fact, field, currency, reason }) => {
    const { holds } = talliesOf(tallies, affiliate)
    const ofRule = holds.get(rule) ?? { version, byReason: new Map<string, Hold>() }
    holds.set(rule, ofRule)
    const key = `${reason}|${currency ?? ''}`
    const hold = ofRule.byReason.get(key) ?? { reason, currency, count: 0, sum: ZERO }
    ofRule.byReason.set(key, hold)
    const facts = listed.get(hold) ?? new Map<Fact, Set<string>>()
    listed.set(hold, facts)
    const fields = facts.get(fact)
    if (fields?.has(field)) return
    if (fields) fields.add(field)
    else {
      facts.set(fact, new Set([field]))
      hold.count += fact.count
    }
    hold.sum = add(hold.sum, fromFact(fact.amounts.get(field) ?? 0n))
  }
}
