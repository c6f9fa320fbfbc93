import { isTriggerKind, triggerAmount } from './candidate.ts'
import { type Context, fieldsOn } from './context.ts'
import { compare } from './decimal.ts'
import { type EvaluatedCustomer, type FactVerdict, furthest, plain } from './evaluated.ts'
import type { Fact } from './facts.ts'
import type { Version } from './plans-in-force.ts'
import { sinceSignup, withinMonths } from './qualify.ts'
import type { HoldReason, Verdict } from './reasons.ts'
import type { CompiledOnce } from './rules.ts'

/** Evaluates a fact under a `once` rule; null if neither its trigger nor `qualify` names it. */
export function evaluateOnceFact(
  context: Context,
  evaluated: EvaluatedCustomer,
  version: Version,
  rule: CompiledOnce,
  fact: Fact,
): FactVerdict | null {
  const own = evaluated.once.find((state) => state.version === version && state.rule === rule)
  const blocker = own?.blockers.find((one) => one.fact === fact)
  const waits = blocker && !evaluated.qualified.has(rule.id) ? blocker.reason : null
  if (isTriggerKind(rule, fact)) {
    const found = evaluateTriggerFact(context, evaluated, version, rule, fact, waits)
    const isVoided = waits === null && own?.voided.has(fact)
    return isVoided ? { ...found, condition: 'void_by' } : found
  }
  if (waits !== null) return plain(waits)
  let found: FactVerdict | null = null
  for (const qualification of rule.qualify) {
    if (qualification.kind === 'customer') continue
    for (const term of qualification.terms) {
      if (!term.names(fact)) continue
      const condition = term.when(fieldsOn(evaluated.customer, fact.day), fact)
      const verdict: Verdict = evaluated.qualified.has(rule.id)
        ? 'already_counted'
        : 'not_qualified'
      const own = { verdict, condition: beforeSignup(context, evaluated, rule, fact) }
      found = furthest(found, condition === null ? own : { verdict: 'excluded', condition })
    }
  }
  return found
}

function evaluateTriggerFact(
  context: Context,
  evaluated: EvaluatedCustomer,
  version: Version,
  rule: CompiledOnce,
  fact: Fact,
  waits: HoldReason | null,
): FactVerdict {
  const { customer, qualified } = evaluated
  const condition = rule.when(fieldsOn(customer, fact.day), fact)
  if (condition !== null) return { verdict: 'excluded', condition }
  if (!withinMonths(customer, fact.day, rule.months)) return plain('expired')
  if (waits !== null) return plain(waits)
  const winner = qualified.get(rule.id)
  if (winner === undefined) {
    return { verdict: 'not_qualified', condition: beforeSignup(context, evaluated, rule, fact) }
  }
  if (fact.at > winner.at || rule.min === null) return plain('already_counted')
  const amount = triggerAmount(context, rule, fact, version.currency)
  const meetsMin = 'fact' in amount || compare(amount, rule.min) >= 0
  return plain(meetsMin ? 'already_counted' : 'not_qualified')
}

/** Returns `before_signup` if a customer did not qualify and the fact is too early for the rule. */
const beforeSignup = (
  context: Context,
  { customer, qualified }: EvaluatedCustomer,
  { id, grace }: CompiledOnce,
  fact: Fact,
): string | null =>
  qualified.has(id) || sinceSignup(context, customer, fact, grace) ? null : 'before_signup'
