import { type Context, fieldsOn } from './context.ts'
import { convertFact } from './convert.ts'
import { compare, type Decimal, ZERO } from './decimal.ts'
import type { Customer, Fact } from './facts.ts'
import type { Version } from './plans-in-force.ts'
import { type Blocker, sinceSignup, withinMonths } from './qualify.ts'
import type { CompiledOnce } from './rules.ts'
import { voidChecker } from './void-by.ts'

/** Whether a fact is of the kind that triggers a rule. */
export const isTriggerKind = ({ trigger }: CompiledOnce, fact: Fact): boolean =>
  trigger === null ? fact.resource === 'customers' : trigger.names(fact)

/** Converts the amount of a fact of the trigger's kind; 0 for a signup. */
export function triggerAmount(
  { rates }: Context,
  { trigger }: CompiledOnce,
  fact: Fact,
  currency: string,
): Decimal | Blocker {
  if (trigger === null) return ZERO
  const sentCurrency = trigger.currencyOf(fact)
  const amount = convertFact(fact, trigger.field, sentCurrency, currency, rates)
  if (typeof amount !== 'string') return amount
  return { fact, field: trigger.field, currency: sentCurrency, reason: amount }
}

/** The fact that triggers a `once` rule for a customer. */
export interface Candidate {
  readonly status: 'no_trigger' | 'reversed' | 'blocked' | 'open'
  readonly trigger: Fact | null
  /** Its amount in the plan's currency; null if the rule does not need it. */
  readonly amount: Decimal | null
  /** What it waits for: its own amount, or the first fact of `void_by` without a rate. */
  readonly waits: readonly Blocker[]
  /** The earlier facts that `void_by` took back, and that `requalify` passes over. */
  readonly voided: ReadonlySet<Fact>
}

/**
 * Finds the earliest fact of the kind that meets `when`, `months`, `grace_hours` and `min`, and is not
 * passed over.
 */
export function findCandidate(
  context: Context,
  customer: Customer,
  version: Version,
  rule: CompiledOnce,
): Candidate {
  const voided = new Set<Fact>()
  const isVoided = voidChecker(context, customer, rule, version.currency)
  for (const fact of customer.facts) {
    if (!isTriggerKind(rule, fact)) continue
    if (fact.state !== 'approved' && fact.state !== 'reversed') continue
    if (rule.when(fieldsOn(customer, fact.day), fact) !== null) continue
    if (!withinMonths(customer, fact.day, rule.months)) continue
    if (!sinceSignup(context, customer, fact, rule.grace)) continue
    if (fact.state === 'reversed' && rule.requalify) continue
    const candidate = evaluateTrigger(context, version, rule, fact, isVoided)
    if (candidate?.status === 'reversed' && rule.requalify) voided.add(fact)
    else if (candidate !== null) return { ...candidate, voided }
  }
  return { status: 'no_trigger', trigger: null, amount: null, waits: [], voided }
}

/** Returns null if the fact is below the rule's `min`. */
function evaluateTrigger(
  context: Context,
  version: Version,
  rule: CompiledOnce,
  trigger: Fact,
  isVoided: ReturnType<typeof voidChecker>,
): Omit<Candidate, 'voided'> | null {
  const { currency } = version
  const amount = rule.needsAmount ? triggerAmount(context, rule, trigger, currency) : null
  if (amount !== null && 'fact' in amount) {
    const status = trigger.state === 'reversed' ? 'reversed' : 'blocked'
    return { status, trigger, amount: null, waits: [amount] }
  }
  if (rule.min !== null && amount !== null && compare(amount, rule.min) < 0) return null
  if (trigger.state === 'reversed') return { status: 'reversed', trigger, amount, waits: [] }
  const voided = isVoided(trigger, amount ?? ZERO)
  if (typeof voided !== 'boolean') return { status: 'blocked', trigger, amount, waits: voided }
  return { status: voided ? 'reversed' : 'open', trigger, amount, waits: [] }
}
