import type { Period } from './calendar.ts'
import type { Context } from './context.ts'
import { plainText, ZERO } from './decimal.ts'
import type { EvaluatedCustomer, Evaluation, FactEvaluator, RuleVerdict } from './evaluate.ts'
import type { Fact } from './facts.ts'
import { memoize } from './memoize.ts'
import { isTriggerKind, type OnceState } from './once.ts'
import { onceThrough } from './once-through.ts'
import type { Progress } from './qualify.ts'
import type { Verdict } from './reasons.ts'

/** What became of a fact: `counted`, or the reason why not with the rule and condition that caused it. */
export interface FactOutcome {
  readonly reason: Verdict
  readonly plan: string | null
  readonly version: number | null
  readonly rule: string | null
  /** The condition, such as `not_countries`, `months` or `qualify/0`. */
  readonly condition: string | null
  /**
   * For a sum or count of `qualify`: what it has reached, and `min`, what it must reach. A sum with
   * `at: "end"` that is reached while its window is open says `min`.
   */
  readonly reached?: string
  readonly min?: string
}

/** A fact with its outcome, and the outcome under each rule that names it. */
export interface FactReport {
  readonly fact: Fact
  readonly customer_id: string
  readonly affiliate_id: string | null
  readonly state: FactOutcome
  readonly rules: readonly FactOutcome[]
}

/** Returns the facts of a customer in a period with their outcomes as of its last day. */
export function reportFacts(
  context: Context,
  evaluator: FactEvaluator,
  evaluated: EvaluatedCustomer,
  { first, last }: Period,
): FactReport[] {
  const statesOn = memoize((day: number) => onceThrough(context, evaluated, day))
  return evaluated.customer.facts
    .filter(({ day }) => day >= first && day <= last)
    .map((fact) => reportFact(evaluated, evaluator(evaluated, fact), () => statesOn(last)))
}

function reportFact(
  evaluated: EvaluatedCustomer,
  evaluation: Evaluation,
  states: () => readonly OnceState[],
): FactReport {
  const { fact, owner, verdict, by, rules } = evaluation
  const state = { reason: verdict, plan: null, version: null, rule: null, condition: null }
  return {
    fact,
    customer_id: evaluated.customer.customer_id,
    affiliate_id: owner.affiliate,
    state: by === null ? state : outcomeOf(fact, by, states),
    rules: rules.map((one) => outcomeOf(fact, one, states)),
  }
}

function outcomeOf(fact: Fact, by: RuleVerdict, states: () => readonly OnceState[]): FactOutcome {
  const { verdict, rule, version } = by
  const state =
    verdict === 'not_qualified'
      ? states().find((one) => one.version === version && one.rule === rule)
      : undefined
  const condition = conditionOf(fact, by, state)
  const open = condition?.startsWith('qualify/') ? state?.progress.find(isOpen) : undefined
  return {
    reason: verdict,
    plan: version.plan,
    version: version.version,
    rule: rule.id,
    condition,
    ...(open?.min && { reached: plainText(open.reached ?? ZERO), min: plainText(open.min) }),
  }
}

const isOpen = (one: Progress) => one.status === 'open'

/** Names the condition that keeps a fact from being counted. */
function conditionOf(
  fact: Fact,
  { verdict, rule, condition }: RuleVerdict,
  state: OnceState | undefined,
): string | null {
  if (verdict === 'expired') return 'months'
  if (condition !== null || verdict !== 'not_qualified' || rule.kind !== 'once') return condition
  switch (state?.status) {
    case 'no_trigger':
      return isTriggerKind(rule, fact) && rule.min !== null ? 'min' : 'trigger'
    case 'reversed':
      return state.trigger?.state === 'reversed' ? 'reversed' : 'void_by'
    case 'blocked':
      return 'rate'
    case 'open':
      return `qualify/${state.progress.findIndex(isOpen)}`
    case 'qualified':
      return 'min'
    case 'elsewhere':
      return state.undecided.length > 0 ? 'rate' : 'elsewhere'
    default:
      return null
  }
}
