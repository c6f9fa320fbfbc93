import type * as v from 'valibot'
import type { Fixed } from '../../platform/http/operation-words.ts'
import type { outcome } from '../why/answers.ts'
import { dayText, type Period } from './calendar.ts'
import type { Context } from './context.ts'
import { plainText, ZERO } from './decimal.ts'
import type { EvaluatedCustomer, FactEvaluator, RuleVerdict } from './evaluate.ts'
import type { Customer, Fact } from './facts.ts'
import { memoize } from './memoize.ts'
import { isTriggerKind, type OnceState, triggerAmount } from './once.ts'
import { onceThrough, openWindows } from './once-through.ts'
import type { Progress } from './qualify.ts'

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

/** Returns the facts of a customer in a period with their outcomes as of its last day. */
export function reportFacts(
  context: Context,
  evaluator: FactEvaluator,
  evaluated: EvaluatedCustomer,
  { first, last }: Period,
): FactReport[] {
  const { customer } = evaluated
  const { facts, customer_id } = customer
  // Few facts need it.
  const statesOn = memoize((day: number) => onceThrough(context, evaluated, day))
  return facts
    .filter(({ day }) => day >= first && day <= last)
    .map((fact) => {
      const { owner, verdict, by, rules } = evaluator(evaluated, fact)
      const outcomeBy = (one: RuleVerdict) =>
        outcomeOf(context, customer, fact, one, last, () => statesOn(last))
      const before = { reason: verdict, plan: null, version: null, rule: null, condition: null }
      return {
        fact,
        customer_id,
        affiliate_id: owner.affiliate,
        state: by === null ? before : outcomeBy(by),
        rules: rules.map(outcomeBy),
      }
    })
}

function outcomeOf(
  context: Context,
  customer: Customer,
  fact: Fact,
  by: RuleVerdict,
  through: number,
  statesThrough: () => readonly OnceState[],
): FactOutcome {
  const { verdict, rule, version } = by
  const state =
    verdict === 'not_qualified'
      ? statesThrough().find((one) => one.version === version && one.rule === rule)
      : undefined
  const named = conditionOf(fact, by, state)
  const [window] = named === 'trigger' && state ? openWindows(customer, state) : []
  // Once a condition can no longer be met, the trigger would change nothing.
  const isHopeless = window && window.until <= through && window.name !== 'months'
  const condition = isHopeless ? window.name : named
  return {
    reason: verdict,
    plan: version.plan,
    version: version.version,
    rule: rule.id,
    condition,
    ...(condition === 'trigger' && window ? { until: dayText(window.until) } : {}),
    ...(condition === 'min' ? amountSoFar(context, fact, by) : {}),
    ...(condition?.startsWith('qualify/') && state ? sumSoFar(state, condition) : {}),
  }
}

const isOpen = ({ status }: Progress): boolean => status === 'open'

/** What has been reached, what must be reached, and until when. */
type SoFar = Pick<FactOutcome, 'reached' | 'min' | 'until'>

/** Returns how far a sum or count of `qualify` is; nothing for conditions on the customer. */
function sumSoFar({ progress }: OnceState, condition: string): SoFar {
  const open = progress[Number(condition.slice('qualify/'.length))]
  if (open?.status !== 'open' || open.min === null) return {}
  const { reached, min, until } = open
  return {
    reached: plainText(reached ?? ZERO),
    min: plainText(min),
    ...(until !== null && { until: dayText(until) }),
  }
}

/** Returns the amount of a fact that is below the `min` of a rule. */
function amountSoFar(context: Context, fact: Fact, { rule, version }: RuleVerdict): SoFar {
  if (rule.kind !== 'once' || rule.min === null) return {}
  const amount = triggerAmount(context, rule, fact, version.currency)
  return 'fact' in amount ? {} : { reached: plainText(amount), min: plainText(rule.min) }
}

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
