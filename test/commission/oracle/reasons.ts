import { type Account, attemptKey } from './account.ts'
import { holdsFor, withinMonths } from './conditions.ts'
import { conversion, convert, NO_RATES, type NoRate } from './convert.ts'
import type { Fact } from './facts.ts'
import { type Attempt, isTrigger, type Qualified, triggerField, waitsFor } from './once.ts'
import type { Rule, Term, Version } from './plan.ts'
import { compare, parse } from './rational.ts'
import { fieldOf, isCounted, unitsOf } from './terms.ts'

/** The reasons that a rule can have, in the order of §10; `counted` is beyond all of them. */
export const RULE_REASONS = [
  'no_rule',
  'excluded',
  'expired',
  'no_currency',
  'fx_pending',
  'fx_missing',
  'already_counted',
  'not_qualified',
  'counted',
] as const

export type RuleReason = (typeof RULE_REASONS)[number]

const further = (a: RuleReason, b: RuleReason) =>
  RULE_REASONS.indexOf(b) > RULE_REASONS.indexOf(a) ? b : a

/** What one rule says of a fact, and what of the fact a `share` holds. */
export interface Evaluation {
  reason: RuleReason
  held: { field: string; reason: NoRate }[]
}

const evaluated = (reason: RuleReason): Evaluation => ({ reason, held: [] })

/** Returns whether a rule's own conditions, then its months, turn a fact away. */
function turnedAway(rule: Rule, fact: Fact): RuleReason | null {
  if (!holdsFor(rule.when, fact)) return 'excluded'
  return withinMonths(rule, fact) ? null : 'expired'
}

function evaluateTerm(account: Account, version: Version, rule: Rule, term: Term, fact: Fact) {
  const field = fieldOf(term, fact)
  if (field === null) return evaluated('no_rule')
  if (!holdsFor(term.when, fact)) return evaluated('excluded')
  const away = turnedAway(rule, fact)
  if (away) return evaluated(away)
  const how = conversion(account.rates, fact, field, version.currency)
  if (how.by !== 'nothing') return evaluated('counted')
  const { reason } = how
  return { reason, held: [{ field, reason }] }
}

function evaluateShare(account: Account, version: Version, rule: Rule, fact: Fact): Evaluation {
  const each = rule.base!.map((term) => evaluateTerm(account, version, rule, term, fact))
  return {
    reason: each.map(({ reason }) => reason).reduce(further, 'no_rule'),
    held: each.flatMap(({ held }) => held),
  }
}

function evaluateUnit(rule: Rule, fact: Fact): Evaluation {
  if (unitsOf(rule.unit!, fact) === null) return evaluated('no_rule')
  return evaluated(turnedAway(rule, fact) ?? 'counted')
}

/** Returns whether a term or count of `qualify` names a fact; null: only terms whose `when` fails. */
function isQualifying({ qualify = [] }: Rule, fact: Fact): boolean | null {
  const terms = qualify.flatMap(({ sum = [] }) => sum).filter((one) => fieldOf(one, fact) !== null)
  const byCount = qualify.some(({ count }) => count && isCounted(count, fact))
  if (byCount || terms.some((term) => holdsFor(term.when, fact))) return true
  return terms.length > 0 ? null : false
}

/** Evaluates a fact by a `once` rule; `winner` is the customer's qualification by its id, if any. */
function evaluateOnce(
  account: Account,
  one: Attempt,
  winner: Qualified | null,
  fact: Fact,
  until: string,
): RuleReason {
  const { rule, version } = one
  if (winner?.attempt === one && winner.used.has(fact)) return 'counted'
  const isKnown = one.candidate !== null && one.candidate.day <= until
  const waits = winner || !isKnown ? [] : waitsFor(one).filter((held) => held.fact === fact)
  const waiting = firstReason(waits.map(({ reason }) => reason))
  if (!isTrigger(rule, fact)) {
    if (waiting) return waiting
    const isNamed = isQualifying(rule, fact)
    if (isNamed !== true) return isNamed === null ? 'excluded' : 'no_rule'
    return winner ? 'already_counted' : 'not_qualified'
  }
  const away = turnedAway(rule, fact)
  if (away || waiting) return away ?? waiting!
  if (!winner) return 'not_qualified'
  const { min } = rule.trigger!
  const amount =
    min === undefined ? null : convert(account.rates, fact, triggerField(rule), version.currency)
  // A fact without a rate that nothing waits for counts as one that meets `min`.
  const meetsMin =
    amount === null || typeof amount === 'string' || compare(amount, parse(min!)) >= 0
  return meetsMin || fact.instant > winner.instant ? 'already_counted' : 'not_qualified'
}

/** Returns the reason that §10 lists first. */
const firstReason = (reasons: NoRate[]): NoRate | null =>
  NO_RATES.find((one) => reasons.includes(one)) ?? null

/** Returns the qualification of a customer by a rule id that lies on or before a day, or null. */
export function qualifiedBy(account: Account, fact: Fact, rule: string, until: string) {
  const found = account.qualified.get(attemptKey(fact.customer.customer_id, rule))
  return found && found.day <= until ? found : null
}

/** Evaluates a fact by one rule of its own version as of the end of a day. An override has no facts. */
export function evaluateRule(
  account: Account,
  version: Version,
  rule: Rule,
  fact: Fact,
  until: string,
): Evaluation {
  if (rule.kind === 'override') return evaluated('no_rule')
  if (rule.kind === 'unit') return evaluateUnit(rule, fact)
  if (rule.kind === 'share') return evaluateShare(account, version, rule, fact)
  const own = account.attempts
    .get(attemptKey(fact.customer.customer_id, rule.id))!
    .find((one) => one.version === version)!
  return evaluated(
    evaluateOnce(account, own, qualifiedBy(account, fact, rule.id, until), fact, until),
  )
}

/** Returns the state of an uncounted fact: the reason of §10, and the rule from which it comes. */
export function reasonOf(account: Account, fact: Fact, until: string) {
  const { version } = fact
  if (fact.reason) return { state: fact.reason, rule: null }
  if (!version) return { state: 'no_plan', rule: null }
  if (fact.state !== 'approved') return { state: fact.state, rule: null }
  let state: RuleReason = 'no_rule'
  let from: string | null = null
  for (const rule of version.rules) {
    const { reason } = evaluateRule(account, version, rule, fact, until)
    if (further(state, reason) === state) continue
    state = reason
    from = rule.id
  }
  return { state, rule: state === 'counted' ? null : from }
}
