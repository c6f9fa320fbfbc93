import type { Decimal } from './decimal.ts'
import type { OnceState } from './once.ts'
import type { Version } from './plans-in-force.ts'
import type { HoldReason } from './reasons.ts'
import type { CompiledRule } from './rules.ts'
import { newTally, type Tally } from './tally.ts'

/** A rule of a version and what facts came to under it. */
export interface RuleTally {
  readonly version: Version
  readonly rule: CompiledRule
  readonly tally: Tally
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
export interface RuleHolds {
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

/** Returns the tally of a rule, which is empty at first. */
export function tallyOf(
  map: Map<CompiledRule, RuleTally>,
  version: Version,
  rule: CompiledRule,
): RuleTally {
  const known = map.get(rule)
  if (known) return known
  const created = { version, rule, tally: newTally() }
  map.set(rule, created)
  return created
}

/** Returns the tally of an override over the facts of one affiliate below. */
export function overrideTallyOf(
  { overrides }: AffiliateTallies,
  version: Version,
  rule: CompiledRule,
  below: string,
): RuleTally {
  const byAffiliate = overrides.get(rule) ?? new Map<string, RuleTally>()
  overrides.set(rule, byAffiliate)
  const known = byAffiliate.get(below) ?? { version, rule, tally: newTally() }
  byAffiliate.set(below, known)
  return known
}
