import type * as v from 'valibot'
import type { Fixed } from '../../platform/http/operation-words.ts'
import type { outcome } from '../why/answers.ts'
import type { Period } from './calendar.ts'
import type { Context } from './context.ts'
import { plainText } from './decimal.ts'
import type { EvaluatedCustomer, FactEvaluator, RuleVerdict } from './evaluate.ts'
import type { Fact } from './facts.ts'
import { memoize } from './memoize.ts'
import { isTriggerKind, triggerAmount } from './once.ts'
import { type QualificationReport, reportOnce } from './once-report.ts'

/** What became of a fact: `counted`, or the reason why not with the rule and condition that caused it. */
export type FactOutcome = Fixed<v.InferOutput<typeof outcome>>

/** A fact with its outcome, and the outcome under each rule that names it. */
export interface FactReport {
  readonly fact: Fact
  readonly customer_id: string
  readonly affiliate_id: string | null
  readonly state: FactOutcome
  readonly rules: readonly FactOutcome[]
}

/**
 * Yields the facts of a customer in a period with their outcomes as of its last day: whoever asks for one does not need
 * the rates of later ones.
 */
export function* reportFacts(
  context: Context,
  evaluator: FactEvaluator,
  evaluated: EvaluatedCustomer,
  { first, last }: Period,
): Generator<FactReport> {
  const { facts, customer_id } = evaluated.customer
  // Few facts need them.
  const reports = memoize((day: number) => reportOnce(context, evaluated, day))
  for (const fact of facts) {
    if (fact.day < first || fact.day > last) continue
    const { owner, verdict, by, rules } = evaluator(evaluated, fact)
    const outcomeBy = (one: RuleVerdict): FactOutcome => ({
      reason: one.verdict,
      plan: one.version.plan,
      version: one.version.version,
      rule: one.rule.id,
      ...conditionOf(context, fact, one, () => reports(last)),
    })
    const before = { reason: verdict, plan: null, version: null, rule: null, condition: null }
    yield {
      fact,
      customer_id,
      affiliate_id: owner.affiliate,
      state: by === null ? before : outcomeBy(by),
      rules: rules.map(outcomeBy),
    }
  }
}

/** The condition that keeps a fact from being counted, what has been reached of it, and until when it can be. */
type Missing = Pick<FactOutcome, 'condition' | 'reached' | 'min' | 'until'>

/** Returns what a rule misses: what the customer misses under it, or the `min` of the fact itself. */
function conditionOf(
  context: Context,
  fact: Fact,
  { verdict, rule, version, condition }: RuleVerdict,
  reports: () => readonly QualificationReport[],
): Missing {
  if (verdict === 'expired') return { condition: 'months' }
  if (condition !== null || verdict !== 'not_qualified' || rule.kind !== 'once') {
    return { condition }
  }
  const report = reports().find(
    (one) => one.rule === rule.id && one.plan === version.plan && one.version === version.version,
  )
  if (!report) return { condition }
  const { trigger, status, missing, closed, refused_by, conditions } = report
  if (rule.min !== null && isTriggerKind(rule, fact) && (!trigger || status === 'qualified')) {
    const amount = triggerAmount(context, rule, fact, version.currency)
    const soFar = 'fact' in amount ? {} : { reached: plainText(amount), min: plainText(rule.min) }
    return { condition: 'min', ...soFar }
  }
  const named = missing[0] ?? closed?.window ?? refused_by
  const isTrigger = named === 'trigger' || named === 'months'
  const one = named?.startsWith('qualify/') && conditions[Number(named.slice('qualify/'.length))]
  const until = isTrigger ? (report.until ?? closed?.until) : one ? one.until : null
  return {
    condition: isTrigger ? 'trigger' : named,
    ...(one && one.min !== null && { reached: one.reached ?? '0', min: one.min }),
    ...(until && { until }),
  }
}
