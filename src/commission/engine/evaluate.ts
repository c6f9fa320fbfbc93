import { type Period, type PeriodKind, periodOf } from './calendar.ts'
import { type Context, fieldsOn, type Owner, ownersOf } from './context.ts'
import { conversionOf, convertUnits } from './convert.ts'
import { compare } from './decimal.ts'
import type { Customer, Fact } from './facts.ts'
import { oncePerPeriod } from './memoize.ts'
import {
  evaluateAllOnce,
  firstQualified,
  isTriggerKind,
  type OnceState,
  triggerAmount,
} from './once.ts'
import { qualificationStep } from './once-steps.ts'
import { overrideVersion, type Version } from './plans-in-force.ts'
import { excludedBy, sinceSignup, withinMonths } from './qualify.ts'
import { type HoldReason, type Reason, rankOf, type Verdict } from './reasons.ts'
import type {
  CompiledOnce,
  CompiledOverride,
  CompiledRule,
  CompiledShare,
  CompiledUnitRule,
} from './rules.ts'
import type { CompiledTerm, CompiledUnit } from './terms.ts'
import { termsOf, type UplineRule, uplineRules } from './uplines.ts'

/** A customer with the owners of its facts and its `once` rules. */
export interface EvaluatedCustomer {
  readonly customer: Customer
  readonly ownerOf: (fact: Fact) => Owner
  readonly once: readonly OnceState[]
  /** By rule id: the qualification that counts. */
  readonly qualified: ReadonlyMap<string, OnceState>
}

/** The verdict of one rule on a fact that it names. */
interface FactVerdict {
  readonly verdict: Verdict
  /** The condition that did not hold, such as `not_countries` or `void_by`. */
  readonly condition: string | null
}

/** Returns a verdict without a condition. */
export const plain = (verdict: Verdict): FactVerdict => ({ verdict, condition: null })

/** Returns the verdict that is further down the list of reasons. */
export const furthest = (a: FactVerdict | null, b: FactVerdict): FactVerdict =>
  a === null || rankOf(b.verdict) > rankOf(a.verdict) ? b : a

/** The verdict of one rule on a fact. */
export interface RuleVerdict {
  readonly version: Version
  readonly rule: CompiledRule
  readonly verdict: Verdict
  /** The condition that did not hold, such as `not_countries` or `void_by`. */
  readonly condition: string | null
}

/** The verdict on a fact, and the verdict of each rule of its plan that names it (§16.10). */
export interface Evaluation {
  readonly fact: Fact
  readonly owner: Owner
  readonly verdict: Verdict
  /** The rule that decided; null if the fact was evaluated before any rule. */
  readonly by: RuleVerdict | null
  readonly rules: readonly RuleVerdict[]
}

/** Evaluates a customer's `once` rules by all of its facts. */
export function evaluateCustomer(context: Context, customer: Customer): EvaluatedCustomer {
  const ownerOf = ownersOf(context, customer)
  const once = evaluateAllOnce(context, customer, ownerOf)
  const qualified = new Map<string, OnceState>()
  for (const [rule, state] of firstQualified(once)) {
    const evidence = () => qualificationStep(context, customer, state)
    qualified.set(rule, { ...state, evidence })
  }
  return { customer, ownerOf, once, qualified }
}

/**
 * Returns a customer as of the end of a day: later qualifications do not count yet, and later
 * candidates do not wait yet.
 */
export function asOf(evaluated: EvaluatedCustomer, day: number): EvaluatedCustomer {
  if (evaluated.once.length === 0) return evaluated
  return {
    ...evaluated,
    once: evaluated.once.map((state) =>
      state.trigger && state.trigger.day > day ? { ...state, blockers: [] } : state,
    ),
    qualified: new Map([...evaluated.qualified].filter(([, state]) => state.day <= day)),
  }
}

/** Returns why a fact earns nothing whatever the rules say; null if the rules decide. */
function reasonBeforeRules({ state }: Fact, owner: Owner): Reason | null {
  if (state === 'implausible_time') return state
  return owner.reason ?? (state === 'approved' ? null : state)
}

/**
 * Evaluates a fact under the rules of its plan, without the overrides of uplines: the caller applies these.
 */
export function evaluateFact(
  context: Context,
  evaluated: EvaluatedCustomer,
  fact: Fact,
): Evaluation {
  const owner = evaluated.ownerOf(fact)
  const before = reasonBeforeRules(fact, owner)
  const rules =
    owner.version === null || before !== null
      ? []
      : rulesOn(context, evaluated, fact, owner.version)
  const counting = qualificationsUsing(evaluated, fact)
  const [first] = counting
  if (first) {
    return {
      fact,
      owner,
      verdict: 'counted',
      by: first,
      rules: counting.reduce(withVerdict, rules),
    }
  }
  if (before !== null) return { fact, owner, verdict: before, by: null, rules }
  let by: RuleVerdict | null = null
  for (const one of rules) if (by === null || rankOf(one.verdict) > rankOf(by.verdict)) by = one
  return { fact, owner, verdict: by?.verdict ?? 'no_rule', by, rules }
}

const withVerdict = (rules: readonly RuleVerdict[], by: RuleVerdict): readonly RuleVerdict[] => [
  ...rules.filter(({ version, rule }) => version !== by.version || rule.id !== by.rule.id),
  by,
]

/** Returns a verdict for each qualification, under any plan, that a fact is part of. */
const qualificationsUsing = ({ qualified }: EvaluatedCustomer, fact: Fact): RuleVerdict[] =>
  [...qualified.values()]
    .filter(({ used }) => used.has(fact))
    .map(({ version, rule }) => ({ version, rule, verdict: 'counted', condition: null }))

function rulesOn(
  context: Context,
  evaluated: EvaluatedCustomer,
  fact: Fact,
  version: Version,
): RuleVerdict[] {
  return version.rules.flatMap((rule) => {
    const found =
      rule.kind === 'once'
        ? evaluateOnceFact(context, evaluated, version, rule, fact)
        : rule.kind === 'override'
          ? null
          : evaluateBaseFact(context, evaluated.customer, version, rule, fact)
    return found ? [{ version, rule, ...found }] : []
  })
}

/** Evaluates a fact under a share or unit rule; null if the rule does not name it. */
function evaluateBaseFact(
  context: Context,
  customer: Customer,
  version: Version,
  rule: CompiledShare | CompiledUnitRule,
  fact: Fact,
): FactVerdict | null {
  let found: FactVerdict | null = null
  const terms: readonly (CompiledTerm | CompiledUnit)[] =
    rule.kind === 'share' ? rule.base.terms : [rule.unit]
  for (const term of terms) {
    if (!term.names(fact)) continue
    const converts = rule.kind === 'share'
    found = furthest(found, evaluateTerm(context, customer, version, rule, term, fact, converts))
  }
  return found
}

/** Evaluates a fact under one term, which names it: the first reason in the order of §10. */
export function evaluateTerm(
  context: Context,
  customer: Customer,
  version: Version,
  rule: Pick<CompiledRule, 'when' | 'months'>,
  term: CompiledTerm | CompiledUnit,
  fact: Fact,
  converts: boolean,
): FactVerdict {
  const condition = excludedBy(customer, rule, term, fact)
  if (condition === 'months') return plain('expired')
  if (condition !== null) return { verdict: 'excluded', condition }
  if (!converts) return plain('counted')
  const own = term.currencyOf(fact)
  const conversion = conversionOf(fact, term.field, own, version.currency, context.rates)
  return plain(conversion.by === 'none' ? conversion.reason : 'counted')
}

/** Evaluates a fact under a `once` rule; null if neither its trigger nor `qualify` names it. */
function evaluateOnceFact(
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

/** Evaluates facts under the rules of their plans and the overrides of uplines. */
export type FactEvaluator = (evaluated: EvaluatedCustomer, fact: Fact) => Evaluation

/** Returns an evaluator that finds the uplines of each period once. */
export function factEvaluator(context: Context): FactEvaluator {
  const uplinesIn = oncePerPeriod((period) => uplineRules({ ...context, period }))
  return (evaluated, fact) => {
    const evaluation = evaluateFact(context, evaluated, fact)
    if (evaluation.verdict === 'counted' || fact.state !== 'approved') return evaluation
    const { affiliate, reason } = evaluation.owner
    if (affiliate === null || (reason !== null && reason !== 'no_plan')) return evaluation
    for (const kind of KINDS) {
      const entries = uplinesIn(periodOf(fact.day, kind))(affiliate)
      const entry = entries.find(
        (one) =>
          isCountedBy(context, evaluated.customer, one, fact) &&
          isBooked(context, one, affiliate, periodOf(fact.day, kind)),
      )
      if (entry === undefined) continue
      const { version, rule } = entry
      const by = { version, rule, verdict: 'counted', condition: null } as const
      return { ...evaluation, verdict: 'counted', by, rules: [...evaluation.rules, by] }
    }
    return evaluation
  }
}

const KINDS: readonly PeriodKind[] = ['month', 'week']

const isCountedBy = (
  context: Context,
  customer: Customer,
  entry: UplineRule,
  fact: Fact,
): boolean =>
  entry.purpose === 'override' && overrideCounts(context, customer, entry.version, entry.rule, fact)

/** Whether an override line exists: one that the affiliate below funds needs its plan and a rate. */
export function isBooked(
  { inForce, rates }: Context,
  { rule, version }: UplineRule,
  affiliate: string,
  { last }: Period,
): boolean {
  if (rule.kind !== 'override' || !rule.downline) return true
  const payer = overrideVersion(inForce, affiliate, last)
  if (payer === null) return false
  return typeof convertUnits(0n, version.currency, payer.currency, last, rates) === 'bigint'
}

/** Whether an override over facts counts a fact. */
function overrideCounts(
  context: Context,
  customer: Customer,
  version: Version,
  rule: CompiledOverride,
  fact: Fact,
): boolean {
  const converts = 'base' in rule.of
  return termsOf(rule).some(
    (term) =>
      term.names(fact) &&
      evaluateTerm(context, customer, version, rule, term, fact, converts).verdict === 'counted',
  )
}
