import { findCandidate } from './candidate.ts'
import type { Context, Owner } from './context.ts'
import type { Decimal } from './decimal.ts'
import { type Customer, compareText, type Fact } from './facts.ts'
import type { Version } from './plans-in-force.ts'
import { type Blocker, evaluateQualification, type Progress } from './qualify.ts'
import type { CompiledOnce } from './rules.ts'

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
  /** The earlier facts that `void_by` took back, and that `requalify` passes over. */
  readonly voided: ReadonlySet<Fact>
  /** The affiliate of the trigger. */
  readonly affiliate: string | null
  /** The trigger's amount in the plan's currency; null if the rule does not need it. */
  readonly amount: Decimal | null
  /** If it is `blocked`: the facts that make the candidate wait. */
  readonly blockers: readonly Blocker[]
  readonly progress: readonly Progress[]
  /** The instant and the day of the qualification; they are valid if `status` is `qualified`. */
  readonly at: number
  readonly day: number
  readonly used: ReadonlySet<Fact>
}

/** Evaluates a customer under a rule by all of its facts. */
export function evaluateOnce(
  context: Context,
  customer: Customer,
  version: Version,
  rule: CompiledOnce,
  ownerOf: (fact: Fact) => Owner,
): OnceState {
  const { waits, ...found } = findCandidate(context, customer, version, rule)
  const owner = found.trigger && ownerOf(found.trigger)
  const state: OnceState = {
    customerId: customer.customer_id,
    version,
    rule,
    affiliate: owner?.affiliate ?? null,
    progress: [],
    blockers: [],
    at: 0,
    day: 0,
    used: new Set(),
    ...found,
  }
  if (found.trigger === null) return state
  if (owner?.version !== version) return { ...state, status: 'elsewhere' }
  if (found.status === 'reversed') return state
  return evaluateConditions(context, customer, state, found.trigger, waits)
}

/** Evaluates `qualify`: the customer qualifies on the latest of all days (§12 `once`). */
function evaluateConditions(
  context: Context,
  customer: Customer,
  state: OnceState,
  trigger: Fact,
  waits: readonly Blocker[],
): OnceState {
  const progress = state.rule.qualify.map((qualification) =>
    evaluateQualification(
      context,
      customer,
      qualification,
      state.version.currency,
      state.rule.grace,
    ),
  )
  const sums = progress.flatMap((one) => (one.status === 'blocked' ? one.blockers : []))
  const blockers = waits.length > 0 ? waits : sums
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

/** Evaluates a customer under all `once` rules of the versions that govern its facts. */
export function evaluateAllOnce(
  context: Context,
  customer: Customer,
  ownerOf: (fact: Fact) => Owner,
): OnceState[] {
  const versions = new Set<Version>()
  for (const fact of customer.facts) {
    const { version } = ownerOf(fact)
    if (version) versions.add(version)
  }
  return [...versions].flatMap((version) =>
    version.rules.flatMap((rule) =>
      rule.kind === 'once' ? [evaluateOnce(context, customer, version, rule, ownerOf)] : [],
    ),
  )
}

/** Returns for each rule id the earliest qualification of the customer, under any version (§16.23). */
export function firstQualified(states: readonly OnceState[]): Map<string, OnceState> {
  const byRule = new Map<string, OnceState>()
  for (const state of states) {
    if (state.status !== 'qualified') continue
    const best = byRule.get(state.rule.id)
    if (best === undefined || compareQualified(state, best) < 0) byRule.set(state.rule.id, state)
  }
  return byRule
}
