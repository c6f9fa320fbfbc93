import type * as v from 'valibot'
import type { Fixed } from '../../platform/http/operation-words.ts'
import { dayText } from '../../platform/money/calendar.ts'
import { isPositive, plainText, subtract, ZERO } from '../../platform/money/decimal.ts'
import type { Qualification } from '../plans/types.ts'
import type { qualification } from '../shapes/explanations.ts'
import type { Account } from './account.ts'
import { asOf, evaluateCustomer } from './customer.ts'
import type { Customer, Fact } from './facts.ts'
import type { EvaluatedCustomer } from './judge.ts'
import { isTriggerKind, type OnceState } from './once.ts'
import { onceThrough, openWindows } from './once-through.ts'
import { fieldsOn, isRefused } from './owners.ts'
import { type Progress, sinceSignup } from './qualify.ts'
import type { CompiledOnce } from './rules.ts'

/** A customer under a `once` rule, as of the end of a period. */
export type QualificationReport = Fixed<v.InferOutput<typeof qualification>>

type RecordRef = NonNullable<QualificationReport['trigger']>
type ConditionReport = QualificationReport['conditions'][number]

const refOf = ({ resource, id, day }: Fact): RecordRef => ({ resource, id, day: dayText(day) })

/**
 * Reports a customer under every `once` rule of the versions that govern it, by the facts up to a
 * day.
 */
export function reportOnce(
  account: Account,
  evaluated: EvaluatedCustomer,
  through: number,
): QualificationReport[] {
  const { qualified } = asOf(evaluated, through)
  const states = onceThrough(account, evaluated, through)
  const open = states.filter(
    ({ rule, status }) => !qualified.has(rule.id) && status !== 'qualified',
  )
  const ids = new Set(
    open.filter(({ status }) => status !== 'elsewhere').map(({ rule }) => rule.id),
  )
  const reports = [
    ...[...qualified.values()].map((state) => report(account, evaluated, state, through)),
    ...open
      .filter(({ rule, status }) => status !== 'elsewhere' || !ids.has(rule.id))
      .map((state) => report(account, evaluated, state, through)),
  ]
  return [...reports, ...reportRefused(account, evaluated, reports, through)]
}

/** Reports refused customers as if they were not refused. */
function reportRefused(
  account: Account,
  evaluated: EvaluatedCustomer,
  reports: readonly QualificationReport[],
  through: number,
): QualificationReport[] {
  const { customer } = evaluated
  if (!isRefused(customer, through)) return []
  const reported = new Set(reports.map(({ rule }) => rule))
  const accepted = evaluateCustomer(account, { ...customer, refusedFrom: null })
  return onceThrough(account, accepted, through)
    .filter(({ rule, status }) => status !== 'elsewhere' && !reported.has(rule.id))
    .map((state) => report(account, evaluated, { ...state, status: 'open' }, through))
}

function report(
  account: Account,
  evaluated: EvaluatedCustomer,
  state: OnceState,
  through: number,
): QualificationReport {
  const { customer } = evaluated
  const { rule, version, trigger, status } = state
  const conditions = state.progress.map((one, index) =>
    reportCondition(
      one,
      rule.source.qualify?.[index] as Qualification,
      rule.qualify[index]?.kind === 'customer',
      through,
    ),
  )
  const outcome = outcomeOf(evaluated, state, conditions, through)
  const voided = status === 'no_trigger' ? [...state.voided].at(-1) : undefined
  const affiliate = status === 'no_trigger' ? currentOwner(evaluated, through) : state.affiliate
  return {
    customer_id: customer.customer_id,
    affiliate_id: affiliate,
    plan: version.plan,
    version: version.version,
    rule: rule.id,
    qualified_on: status === 'qualified' ? dayText(state.day) : null,
    trigger: trigger && refOf(trigger),
    ...outcome,
    ...(voided && { trigger: refOf(voided), refused_by: outcome.refused_by ?? 'void_by' }),
    conditions,
    waits_for: [...state.blockers, ...state.undecided].map(({ fact, reason }) => ({
      ...refOf(fact),
      reason,
    })),
    before_signup:
      status === 'qualified' ? [] : factsBeforeSignup(account, customer, rule, through),
  }
}

/** Returns the affiliate of the customer's last fact up to a day. */
const currentOwner = ({ customer, ownerOf }: EvaluatedCustomer, through: number): string | null => {
  const last = customer.facts.findLast(({ day }) => day <= through)
  return last ? ownerOf(last).affiliate : null
}

type Outcome = Pick<QualificationReport, 'status' | 'missing' | 'closed' | 'until' | 'refused_by'>

const NOTHING: Omit<Outcome, 'status'> = {
  missing: [],
  closed: null,
  until: null,
  refused_by: null,
}
const refused = (refused_by: string): Outcome => ({ ...NOTHING, status: 'refused', refused_by })

/** Decides in this order: qualified, refused for good, an ended window, a failing condition, waiting. */
function outcomeOf(
  { customer, ownerOf }: EvaluatedCustomer,
  state: OnceState,
  conditions: readonly ConditionReport[],
  through: number,
): Outcome {
  const { status, rule, trigger, undecided } = state
  if (status === 'qualified') return { ...NOTHING, status }
  if (status === 'reversed') return refused(trigger?.state === 'reversed' ? 'reversed' : 'void_by')
  if (status === 'elsewhere') {
    if (undecided.length > 0) return { ...NOTHING, status: 'waiting', missing: ['rate'] }
    return refused((trigger && ownerOf(trigger).reason) ?? 'other_version')
  }
  if (isRefused(customer, through)) return refused('refused')
  const condition = status === 'no_trigger' ? failingWhen(customer, rule, through) : null
  if (condition !== null) return refused(condition)
  const [window] = openWindows(customer, state)
  const until = window ? dayText(window.until) : null
  if (window && until !== null && window.until <= through) {
    return { ...NOTHING, status: 'failed', closed: { window: window.name, until } }
  }
  const failing = conditions.findIndex(({ fails }) => fails !== null)
  if (failing >= 0 && status !== 'no_trigger') return refused(`qualify/${failing}`)
  return { ...NOTHING, status: 'waiting', missing: missingOf(status, conditions), until }
}

/** Returns the condition of `when` that all facts of the trigger's kind miss; null if there is none. */
function failingWhen(customer: Customer, rule: CompiledOnce, through: number): string | null {
  const facts = customer.facts.filter((fact) => fact.day <= through && isTriggerKind(rule, fact))
  const failed = facts.map((fact) => rule.when(fieldsOn(customer, fact.day), fact))
  return failed.includes(null) ? null : (failed[0] ?? null)
}

function missingOf(
  status: OnceState['status'],
  conditions: readonly ConditionReport[],
): readonly string[] {
  if (status === 'no_trigger') return ['trigger']
  if (status === 'blocked') return ['rate']
  return conditions.flatMap((one, index) => (one.status === 'open' ? [`qualify/${index}`] : []))
}

/** Returns the facts up to a day that a `once` rule would use, were they not too early. */
const factsBeforeSignup = (
  account: Account,
  customer: Customer,
  rule: CompiledOnce,
  through: number,
): RecordRef[] =>
  customer.facts
    .filter(
      (fact) =>
        fact.day <= through &&
        fact.state === 'approved' &&
        isNamed(rule, fact) &&
        !sinceSignup(account, customer, fact, rule.grace),
    )
    .map(refOf)

const isNamed = (rule: CompiledOnce, fact: Fact): boolean =>
  isTriggerKind(rule, fact) ||
  rule.qualify.some((one) => one.kind !== 'customer' && one.terms.some((term) => term.names(fact)))

/** Reports one condition of `qualify` at the end of a day; `condition` is as the plan has it. */
function reportCondition(
  progress: Progress,
  condition: Qualification,
  isCustomer: boolean,
  through: number,
): ConditionReport {
  const { reached, min, until } =
    progress.status === 'open' ? progress : { reached: null, min: null, until: null }
  const isOver = until !== null && until <= through
  const status = { met: 'met', blocked: 'waiting', open: isOver ? 'failed' : 'open' } as const
  const missing = min && subtract(min, reached ?? ZERO)
  return {
    condition,
    status: status[progress.status],
    met_on: progress.status === 'met' ? dayText(progress.day) : null,
    reached: reached && plainText(reached),
    min: min && plainText(min),
    missing: missing && isPositive(missing) ? plainText(missing) : null,
    until: until === null ? null : dayText(until),
    fails: isCustomer && progress.status === 'open' ? (progress.condition ?? 'customer') : null,
  }
}
