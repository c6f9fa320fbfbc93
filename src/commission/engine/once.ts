import { compareText } from '../../platform/compare-text.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { add, compare, type Decimal, ZERO } from '../../platform/money/decimal.ts'
import type { StepOf } from '../shapes/steps.ts'
import type { Account } from './account.ts'
import { convertFact } from './convert.ts'
import { type Customer, compareFacts, type Fact } from './facts.ts'
import type { OwnedCustomer } from './owners.ts'
import {
  assignedPlans,
  type OnceOfVersion,
  type Plan,
  type PlansInForce,
  type Version,
} from './plans-in-force.ts'
import {
  type Blocker,
  evaluateQualification,
  excludedBy,
  type Progress,
  sinceSignup,
  takes,
  termAmount,
} from './qualify.ts'
import type { CompiledOnce, CompiledRule } from './rules.ts'
import type { CompiledTerm } from './terms.ts'

/** Whether a fact is of the kind that triggers a rule. Without a `min`, one of amount 0 is not (§16.23). */
export const isTriggerKind = ({ trigger, min }: CompiledOnce, fact: Fact): boolean =>
  trigger === null
    ? fact.resource === 'customers'
    : trigger.names(fact) && (min !== null || fact.amounts.get(trigger.field) !== 0n)

/** Converts the amount of a fact of the trigger's kind; 0 for a signup. */
export function triggerAmount(
  { rates }: Account,
  { trigger }: CompiledOnce,
  fact: Fact,
  currency: string,
): Decimal | Blocker {
  if (trigger === null) return ZERO
  const amount = convertFact(fact, trigger, currency, rates)
  if (typeof amount !== 'string') return amount
  return { fact, field: trigger.field, currency: trigger.currencyOf(fact), reason: amount }
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
export function findCandidate(account: Account, customer: Customer, of: OnceOfVersion): Candidate {
  const { rule } = of
  const voided = new Set<Fact>()
  const isVoided = voidChecker(account, customer, of)
  for (const fact of customer.facts) {
    if (!isTriggerKind(rule, fact)) continue
    if (fact.state !== 'approved' && fact.state !== 'reversed') continue
    if (excludedBy(customer, rule, null, fact) !== null) continue
    if (!sinceSignup(account, customer, fact, rule.grace)) continue
    if (fact.state === 'reversed' && rule.source.requalify) continue
    const candidate = evaluateTrigger(account, of, fact, isVoided)
    if (candidate?.status === 'reversed' && rule.source.requalify) voided.add(fact)
    else if (candidate !== null) return { ...candidate, voided }
  }
  return { status: 'no_trigger', trigger: null, amount: null, waits: [], voided }
}

/** Returns null if the fact is below the rule's `min`. */
function evaluateTrigger(
  account: Account,
  { version, rule }: OnceOfVersion,
  trigger: Fact,
  isVoided: ReturnType<typeof voidChecker>,
): Omit<Candidate, 'voided'> | null {
  const amount = rule.needsAmount ? triggerAmount(account, rule, trigger, version.currency) : null
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

/**
 * Returns a function that tells whether the terms of `void_by` reach a trigger's amount within their days
 * after it (§16.24), or returns the amounts without a rate of the first fact that has such. It is to be called with
 * triggers in order of time: a customer may have as many as facts.
 */
function voidChecker(
  account: Account,
  customer: Customer,
  { version: { currency }, rule: { voidBy } }: OnceOfVersion,
): (trigger: Fact, amount: Decimal) => boolean | readonly Blocker[] {
  if (voidBy === null) return () => false
  const { terms, withinDays } = voidBy
  const facts = customer.facts.filter(
    (fact) => fact.state === 'approved' && terms.some((term) => term.names(fact)),
  )
  let start = 0
  return (trigger, amount) => {
    // A whole day begins before the trigger, and may end after the last instant.
    while ((facts[start]?.at ?? Infinity) < trigger.at - 2 * DAY_MS) start += 1
    let total = ZERO
    for (let next = start; next < facts.length; next++) {
      const fact = facts[next]
      if (!fact || fact.at > trigger.at + (withinDays + 2) * DAY_MS) break
      if (fact === trigger || !isWithin(fact, trigger, withinDays)) continue
      const named = terms.filter((term) => takes(customer, term, fact))
      const amounts = named.map((term) => termAmount(account, term, fact, currency))
      const blockers = amounts.filter((one) => 'fact' in one)
      if (blockers.length > 0) return blockers
      for (const one of amounts) if (!('fact' in one)) total = add(total, one)
    }
    return compare(total, amount) >= 0
  }
}

/** Whether a fact lies after a trigger, within n × 24 h; a whole day on its day or up to the day + n. */
const isWithin = (fact: Fact, trigger: Fact, days: number): boolean =>
  fact.wholeDay
    ? fact.day >= trigger.day && fact.day <= trigger.day + days
    : compareFacts(fact, trigger) > 0 && fact.at < trigger.at + days * DAY_MS

/** A customer under a `once` rule of a version. */
export interface OnceState extends OnceOfVersion {
  readonly customerId: string
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
  /** If it is `elsewhere`: what may still rule its trigger out, so that a later fact becomes the candidate. */
  readonly undecided: readonly Blocker[]
  readonly progress: readonly Progress[]
  /** The instant and the day of the qualification; they are valid if `status` is `qualified`. */
  readonly at: number
  readonly day: number
  readonly used: ReadonlySet<Fact>
  /** Returns how the customer qualified; null if that is not known. */
  readonly evidence: () => StepOf<'qualification'> | null
}

/** What a customer without a qualification has. All share it, and those whose facts are dropped: they fill the memory. */
export const NOTHING_KNOWN = {
  progress: [],
  blockers: [],
  undecided: [],
  at: 0,
  day: 0,
  used: new Set<Fact>(),
  voided: new Set<Fact>(),
  evidence: () => null,
} satisfies Partial<OnceState>

/** Evaluates a customer under a rule by all of its facts. */
export function evaluateOnce(
  account: Account,
  { customer, ownerOf }: OwnedCustomer,
  of: OnceOfVersion,
): OnceState {
  const { version, rule } = of
  const { waits, ...found } = findCandidate(account, customer, of)
  const owner = found.trigger && ownerOf(found.trigger)
  const state: OnceState = {
    customerId: customer.customer_id,
    version,
    rule,
    affiliate: owner?.affiliate ?? null,
    ...NOTHING_KNOWN,
    ...found,
  }
  if (found.trigger === null) return state
  if (owner?.version !== version) {
    const mayBeVoided = rule.voidBy !== null && rule.source.requalify === true
    const mayMissMin = rule.min !== null && waits[0]?.fact === found.trigger
    return { ...state, status: 'elsewhere', undecided: mayBeVoided || mayMissMin ? waits : [] }
  }
  if (found.status === 'reversed') return state
  return evaluateConditions(account, customer, state, { trigger: found.trigger, waits })
}

/** Evaluates each condition of `qualify`. Their windows begin with the signup, so they need no trigger. */
export const evaluateProgress = (
  account: Account,
  customer: Customer,
  of: OnceOfVersion,
): Progress[] => of.rule.qualify.map((one) => evaluateQualification(account, customer, of, one))

/** Evaluates `qualify`: the customer qualifies on the latest of all days (§12 `once`). */
function evaluateConditions(
  account: Account,
  customer: Customer,
  state: OnceState,
  { trigger, waits }: Pick<Candidate, 'waits'> & { readonly trigger: Fact },
): OnceState {
  const progress = evaluateProgress(account, customer, state)
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
export function evaluateAllOnce(account: Account, owned: OwnedCustomer): OnceState[] {
  const versions = new Set<Version>()
  for (const fact of owned.customer.facts) {
    const { version } = owned.ownerOf(fact)
    if (version) versions.add(version)
  }
  return [...versions].flatMap((version) =>
    version.rules.flatMap((rule) =>
      rule.kind === 'once' ? [evaluateOnce(account, owned, { version, rule })] : [],
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

const isOnce = (rule: CompiledRule): rule is CompiledOnce => rule.kind === 'once'

/** Returns the plans of affiliates that have `once` rules, in order of name. */
export function oncePlansOf(inForce: PlansInForce, affiliates: readonly (string | null)[]): Plan[] {
  const plans = affiliates.flatMap((one) => (one === null ? [] : assignedPlans(inForce, one)))
  return [...new Set(plans)]
    .filter(({ versions }) => versions.some(({ rules }) => rules.some(isOnce)))
    .sort((a, b) => compareText(a.plan, b.plan))
}

/**
 * Returns the facts up to a day, besides the signup, by which `once` rules come to the same as by all facts, whatever
 * happens later.
 */
export function factsForOnce(
  account: Account,
  { customer, ownerOf }: OwnedCustomer,
  through: number,
): Fact[] {
  const facts = customer.facts.filter(({ day }) => day <= through)
  const records = facts.filter(({ resource }) => resource !== 'customers')
  // What becomes known of a customer later counts from the signup on.
  if (records.some(({ day }) => day < customer.signupDay)) return records
  const affiliates = customer.affiliates.map(({ value }) => value)
  const needed = new Set<Fact>()
  for (const version of oncePlansOf(account.inForce, affiliates).flatMap((one) => one.versions)) {
    for (const rule of version.rules.filter(isOnce)) {
      const known = { ...customer, facts }
      const state = evaluateOnce(account, { customer: known, ownerOf }, { version, rule })
      const progress = evaluateProgress(account, known, state)
      for (const isNeeded of needsOf(state, progress, through)) {
        for (const fact of records) if (isNeeded(fact)) needed.add(fact)
      }
    }
  }
  return records.filter((fact) => needed.has(fact))
}

/** Returns what a rule needs of the facts up to a day: for its candidate, and for each condition of `qualify`. */
function* needsOf(
  { status, rule, trigger, amount, voided, undecided }: OnceState,
  progress: readonly Progress[],
  through: number,
): Generator<(fact: Fact) => boolean> {
  const names = (terms: readonly CompiledTerm[], fact: Fact) => terms.some((one) => one.names(fact))
  const voidTerms = rule.voidBy?.terms ?? []
  // A rate may still be published. A reversed fact below `min` is no candidate.
  const waits =
    status === 'blocked' ||
    undecided.length > 0 ||
    (status === 'reversed' && rule.min !== null && amount === null)
  const last = trigger ?? [...voided].at(-1)
  const voidedBy = rule.voidBy && last ? last.day + rule.voidBy.withinDays + 1 : -Infinity
  const mayChange = waits || voidedBy >= through
  yield (fact) => fact === trigger || voided.has(fact) || (mayChange && isTriggerKind(rule, fact))
  yield (fact) => (waits || fact.day <= voidedBy) && names(voidTerms, fact)
  if (!mayChange && (status === 'elsewhere' || status === 'reversed')) return
  for (const [index, one] of progress.entries()) {
    const condition = rule.qualify[index]
    const used = new Set(one.status === 'met' ? one.used : [])
    if (one.status === 'met') yield (fact) => used.has(fact)
    else if (condition && 'terms' in condition) yield (fact) => names(condition.terms, fact)
  }
}
