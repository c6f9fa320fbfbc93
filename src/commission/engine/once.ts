import type { Version } from './book.ts'
import { type Context, fieldsOn, type Owner } from './context.ts'
import { convertFact } from './convert.ts'
import { add, compare, type Decimal, ZERO } from './decimal.ts'
import { type Customer, compareFacts, compareText, type Fact } from './facts.ts'
import {
  type Blocker,
  judgeQualification,
  type Progress,
  termAmount,
  withinMonths,
} from './qualify.ts'
import type { CompiledOnce } from './rules.ts'

const DAY_MS = 86_400_000

/** A customer under a `once` rule of a version. */
export interface OnceState {
  readonly customerId: string
  readonly version: Version
  readonly rule: CompiledOnce
  readonly status:
    | 'no_trigger'
    /** The candidate lies under another version, plan or affiliate. */
    | 'elsewhere'
    | 'reversed'
    | 'blocked'
    | 'open'
    | 'qualified'
  readonly trigger: Fact | null
  /** The affiliate of the trigger. */
  readonly affiliate: string | null
  /** The trigger's amount in the plan's currency; null if the rule does not need it. */
  readonly amount: Decimal | null
  readonly blockers: readonly Blocker[]
  readonly progress: readonly Progress[]
  /** The instant and the day of the qualification; they are valid if `status` is `qualified`. */
  readonly at: number
  readonly day: number
  readonly used: ReadonlySet<Fact>
}

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
  const own = trigger.currencyOf(fact)
  const amount = convertFact(fact, trigger.field, own, currency, rates)
  if (typeof amount !== 'string') return amount
  return { fact, field: trigger.field, currency: own, reason: amount }
}

/** Judges a customer under a rule by the facts up to a day; `void_by` looks at all facts. */
export function judgeOnce(
  context: Context,
  customer: Customer,
  version: Version,
  rule: CompiledOnce,
  ownerOf: (fact: Fact) => Owner,
  through: number,
): OnceState {
  const found = findCandidate(context, customer, version, rule, through)
  const owner = found.trigger && ownerOf(found.trigger)
  const state: OnceState = {
    customerId: customer.customer_id,
    version,
    rule,
    affiliate: owner?.affiliate ?? null,
    progress: [],
    at: 0,
    day: 0,
    used: new Set(),
    ...found,
  }
  if (found.trigger === null) return state
  if (owner?.version !== version) return { ...state, status: 'elsewhere', blockers: [] }
  if (found.status !== 'open') return state
  return judgeConditions(context, customer, state, found.trigger, through)
}

type Candidate = Pick<OnceState, 'status' | 'trigger' | 'amount'> & {
  readonly blockers: readonly Blocker[]
}

/** Finds the earliest fact of the kind that meets `when`, `months` and `min`, and is not passed over. */
function findCandidate(
  context: Context,
  customer: Customer,
  version: Version,
  rule: CompiledOnce,
  through: number,
): Candidate {
  for (const fact of customer.facts) {
    if (fact.day > through || !isTriggerKind(rule, fact)) continue
    if (fact.state !== 'approved' && fact.state !== 'reversed') continue
    if (rule.when(fieldsOn(customer, fact.day), fact) !== null) continue
    if (!withinMonths(customer, fact.day, rule.months)) continue
    const candidate = judgeTrigger(context, customer, version, rule, fact)
    if (candidate === null || (candidate.status === 'reversed' && rule.requalify)) continue
    return candidate
  }
  return { status: 'no_trigger', trigger: null, amount: null, blockers: [] }
}

/** Returns null if the fact is below the rule's `min`. */
function judgeTrigger(
  context: Context,
  customer: Customer,
  version: Version,
  rule: CompiledOnce,
  trigger: Fact,
): Candidate | null {
  const { currency } = version
  const amount = rule.needsAmount ? triggerAmount(context, rule, trigger, currency) : null
  if (amount !== null && 'fact' in amount) {
    return { status: 'blocked', trigger, amount: null, blockers: [amount] }
  }
  if (rule.min !== null && amount !== null && compare(amount, rule.min) < 0) return null
  if (trigger.state === 'reversed') return { status: 'reversed', trigger, amount, blockers: [] }
  const voided = isVoided(context, customer, rule, trigger, amount ?? ZERO, currency)
  if (typeof voided !== 'boolean') return { status: 'blocked', trigger, amount, blockers: [voided] }
  return { status: voided ? 'reversed' : 'open', trigger, amount, blockers: [] }
}

/** Whether the terms of `void_by` reach the trigger's amount within their days after it (§16.24). */
function isVoided(
  context: Context,
  customer: Customer,
  { voidBy }: CompiledOnce,
  trigger: Fact,
  amount: Decimal,
  currency: string,
): boolean | Blocker {
  if (voidBy === null) return false
  let total = ZERO
  let named = false
  for (const fact of customer.facts) {
    if (fact.state !== 'approved' || !follows(fact, trigger, voidBy.withinDays)) continue
    for (const term of voidBy.terms) {
      if (!term.names(fact) || term.when(fieldsOn(customer, fact.day), fact) !== null) continue
      const part = termAmount(context, term, fact, currency)
      if ('fact' in part) return part
      total = add(total, part)
      named = true
    }
  }
  return named && compare(total, amount) >= 0
}

/** Whether a fact comes after the trigger, within n × 24 h; whole days: on its day + n at the latest. */
function follows(fact: Fact, trigger: Fact, days: number): boolean {
  if (fact === trigger) return false
  if (fact.wholeDay) return fact.day >= trigger.day && fact.day <= trigger.day + days
  return compareFacts(fact, trigger) > 0 && fact.at < trigger.at + days * DAY_MS
}

/** Judges `qualify`: the customer qualifies on the latest of all days (§12 `once`). */
function judgeConditions(
  context: Context,
  customer: Customer,
  state: OnceState,
  trigger: Fact,
  through: number,
): OnceState {
  const progress = state.rule.qualify.map((qualification) =>
    judgeQualification(context, customer, qualification, state.version.currency, through),
  )
  const blockers = progress.flatMap((one) => (one.status === 'blocked' ? [one.blocker] : []))
  if (blockers.length > 0) return { ...state, status: 'blocked', progress, blockers }
  const met = progress.filter((one) => one.status === 'met')
  if (met.length < progress.length) return { ...state, status: 'open', progress }
  return {
    ...state,
    status: 'qualified',
    progress,
    at: Math.max(trigger.at, ...met.map(({ at }) => at)),
    day: Math.max(trigger.day, ...met.map(({ day }) => day)),
    used: new Set([trigger, ...met.flatMap(({ used }) => used)]),
  }
}

/** Orders qualifications by day, trigger instant and trigger id (§16.23). */
export function compareQualified(a: OnceState, b: OnceState): number {
  const atA = a.trigger?.at ?? 0
  const atB = b.trigger?.at ?? 0
  return a.day - b.day || atA - atB || compareText(a.trigger?.id ?? '', b.trigger?.id ?? '')
}

/** Judges a customer under all `once` rules of the versions that govern its facts. */
export function judgeAllOnce(
  context: Context,
  customer: Customer,
  ownerOf: (fact: Fact) => Owner,
  through: number,
): OnceState[] {
  const versions = new Set<Version>()
  for (const fact of customer.facts) {
    const { version } = ownerOf(fact)
    if (version) versions.add(version)
  }
  return [...versions].flatMap((version) =>
    version.rules.flatMap((rule) =>
      rule.kind === 'once' ? [judgeOnce(context, customer, version, rule, ownerOf, through)] : [],
    ),
  )
}

/** Returns for each rule id the earliest qualification of the customer, under any version (§16.23). */
export function winners(states: readonly OnceState[]): Map<string, OnceState> {
  const byRule = new Map<string, OnceState>()
  for (const state of states) {
    if (state.status !== 'qualified') continue
    const best = byRule.get(state.rule.id)
    if (best === undefined || compareQualified(state, best) < 0) byRule.set(state.rule.id, state)
  }
  return byRule
}
