import { type Period, type PeriodKind, periodOf } from './calendar.ts'
import type { Context } from './context.ts'
import { convertUnits } from './convert.ts'
import { type Evaluation, evaluateFact, evaluateTerm } from './evaluate.ts'
import type { EvaluatedCustomer } from './evaluated.ts'
import type { Customer, Fact } from './facts.ts'
import { oncePerPeriod } from './memoize.ts'
import { overrideVersion, type Version } from './plans-in-force.ts'
import type { CompiledOverride } from './rules.ts'
import { termsOf, type UplineRule, uplineRules } from './uplines.ts'

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
