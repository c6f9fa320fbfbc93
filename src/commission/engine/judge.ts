import { type Context, fieldsOn, type Owner, ownersOf } from './context.ts'
import { conversionOf } from './convert.ts'
import type { Customer, Fact } from './facts.ts'
import { judgeOnceFact } from './judge-once.ts'
import { type FactVerdict, furthest, type JudgedCustomer, plain } from './judged.ts'
import { judgeAllOnce, winners } from './once.ts'
import type { Version } from './plans-in-force.ts'
import { withinMonths } from './qualify.ts'
import { type Reason, rankOf, type Verdict } from './reasons.ts'
import type { CompiledRule, CompiledShare, CompiledUnitRule } from './rules.ts'
import type { CompiledTerm, CompiledUnit } from './terms.ts'

/** The verdict of one rule on a fact. */
export interface RuleVerdict {
  readonly version: Version
  readonly rule: CompiledRule
  readonly verdict: Verdict
  /** The condition that did not hold, such as `not_countries` or `void_by`. */
  readonly condition: string | null
}

/** The verdict on a fact, and the verdict of each rule of its plan that names it (§16.10). */
export interface Judgement {
  readonly fact: Fact
  readonly owner: Owner
  readonly verdict: Verdict
  /** The rule that decided; null if the fact was judged before any rule. */
  readonly by: RuleVerdict | null
  readonly rules: readonly RuleVerdict[]
}

/** Judges a customer's `once` rules by all of its facts. */
export function judgeCustomer(context: Context, customer: Customer): JudgedCustomer {
  const ownerOf = ownersOf(context, customer)
  const once = judgeAllOnce(context, customer, ownerOf)
  return { customer, ownerOf, once, qualified: winners(once) }
}

/**
 * Returns a customer as of the end of a day: later qualifications do not count yet, and later
 * candidates do not wait yet.
 */
export function asOf(judged: JudgedCustomer, day: number): JudgedCustomer {
  if (judged.once.length === 0) return judged
  return {
    ...judged,
    once: judged.once.map((state) =>
      state.trigger && state.trigger.day > day ? { ...state, blockers: [] } : state,
    ),
    qualified: new Map([...judged.qualified].filter(([, state]) => state.day <= day)),
  }
}

/** Returns why a fact earns nothing whatever the rules say; null if the rules decide. */
export const reasonBeforeRules = (fact: Fact, owner: Owner): Reason | null =>
  owner.reason ?? (fact.state === 'approved' ? null : fact.state)

/**
 * Judges a fact under the rules of its plan, without the overrides of uplines: the caller applies these.
 */
export function judgeFact(context: Context, judged: JudgedCustomer, fact: Fact): Judgement {
  const owner = judged.ownerOf(fact)
  const before = reasonBeforeRules(fact, owner)
  const rules =
    owner.version === null || before !== null ? [] : rulesOn(context, judged, fact, owner.version)
  const counting = qualificationsUsing(judged, fact)
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
const qualificationsUsing = ({ qualified }: JudgedCustomer, fact: Fact): RuleVerdict[] =>
  [...qualified.values()]
    .filter(({ used }) => used.has(fact))
    .map(({ version, rule }) => ({ version, rule, verdict: 'counted', condition: null }))

function rulesOn(
  context: Context,
  judged: JudgedCustomer,
  fact: Fact,
  version: Version,
): RuleVerdict[] {
  return version.rules.flatMap((rule) => {
    const found =
      rule.kind === 'once'
        ? judgeOnceFact(context, judged, version, rule, fact)
        : rule.kind === 'override'
          ? null
          : judgeBaseFact(context, judged.customer, version, rule, fact)
    return found ? [{ version, rule, ...found }] : []
  })
}

/** Judges a fact under a share or unit rule; null if the rule does not name it. */
export function judgeBaseFact(
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
    found = furthest(found, judgeTerm(context, customer, version, rule, term, fact, converts))
  }
  return found
}

/** Judges a fact under one term, which names it: the first reason in the order of §10. */
export function judgeTerm(
  context: Context,
  customer: Customer,
  version: Version,
  rule: Pick<CompiledRule, 'when' | 'months'>,
  term: CompiledTerm | CompiledUnit,
  fact: Fact,
  converts: boolean,
): FactVerdict {
  const fields = fieldsOn(customer, fact.day)
  const condition = rule.when(fields, fact) ?? ('when' in term ? term.when(fields, fact) : null)
  if (condition !== null) return { verdict: 'excluded', condition }
  if (!withinMonths(customer, fact.day, rule.months)) return plain('expired')
  if (!converts) return plain('counted')
  const own = term.currencyOf(fact)
  const conversion = conversionOf(fact, term.field, own, version.currency, context.rates)
  return plain(conversion.by === 'none' ? conversion.reason : 'counted')
}
