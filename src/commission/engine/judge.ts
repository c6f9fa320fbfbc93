import { memoize } from '../../platform/memoize.ts'
import { type PeriodKind, periodOf, storedPeriod } from '../../platform/money/calendar.ts'
import { compare } from '../../platform/money/decimal.ts'
import type { Reason } from '../shapes/reasons.ts'
import type { Account, InPeriod } from './account.ts'
import { conversionOf } from './convert.ts'
import type { Fact } from './facts.ts'
import { isTriggerKind, type OnceState, triggerAmount } from './once.ts'
import type { CountedOwner, OwnedCustomer, Owner } from './owners.ts'
import { assignedPlans, overrideVersion, type Version, versionsOf } from './plans-in-force.ts'
import { excludedBy, sinceSignup } from './qualify.ts'
import type { CompiledOnce, CompiledRule } from './rules.ts'
import type { CompiledTerm, CompiledUnit } from './terms.ts'

// Decides whether a rule counts a fact. Nothing else does: what is paid, why a record earns nothing, what it earns and
// what fraud rules see are sinks, which hear the decisions.

/** What a rule sums: facts of a base, or units. */
export type JudgedTerm = CompiledTerm | CompiledUnit

/** A rule under which the facts of an owner are judged. */
export interface Entry {
  /** The affiliate that earns from it. */
  readonly earner: string
  /** The affiliate below the earner whose facts they are; null if they are the earner's own. */
  readonly below: string | null
  readonly version: Version
  readonly rule: CompiledRule
  /**
   * What the facts are for: the rule pays for them, or its tiers measure them. Of another version than that which governs
   * the facts, it is the `other measure`.
   */
  readonly purpose: 'paid' | 'measure' | 'other measure'
  readonly terms: readonly JudgedTerm[]
  /** Whether `when` and `months` of the rule apply. */
  readonly isConditional: boolean
}

/** Returns the rules under which the facts of an owner are judged. */
export type EntriesOf = (owner: CountedOwner, fact: Fact) => readonly Entry[]

/** What hears the decisions on facts. */
export interface Sink {
  readonly entriesOf: EntriesOf
  /** @param converted What `amount_usd` alone converts the amount to; null if a rate converts it, or nothing does. */
  counts(entry: Entry, term: JudgedTerm, fact: Fact, converted: bigint | null): void
  /**
   * @param entry Null: the fact earns nothing whatever its rules say.
   * @param term The term that names the fact; null of `once` rules.
   */
  refuses(
    entry: Entry | null,
    term: JudgedTerm | null,
    fact: Fact,
    reason: Reason,
    condition: string | null,
  ): void
}

/** A sink that also hears of `once` rules. */
export interface RecordSink extends Sink {
  /** Hears that a customer qualified by a fact. */
  qualifies(state: OnceState, fact: Fact): void
}

/** A customer with its `once` rules, judged by all of its facts. */
export interface EvaluatedCustomer extends OwnedCustomer {
  readonly once: readonly OnceState[]
  /** By rule id: the qualification that counts. */
  readonly qualified: ReadonlyMap<string, OnceState>
}

/** Returns why a fact earns nothing whatever its rules say; null if they decide. */
function reasonBeforeRules({ state }: Fact, { reason }: Owner): Reason | null {
  if (state === 'implausible_time') return state
  return reason ?? (state === 'approved' ? null : state)
}

const isCounted = (owner: Owner): owner is CountedOwner =>
  owner.reason === null || owner.reason === 'no_plan'

/** Judges a fact under all rules that sum facts. Its first reason in the order of §10 counts. */
export function judge(
  { rates }: Pick<Account, 'rates'>,
  { customer, ownerOf }: OwnedCustomer,
  fact: Fact,
  sink: Sink,
): void {
  const owner = ownerOf(fact)
  const before = reasonBeforeRules(fact, owner)
  if (before !== null) sink.refuses(null, null, fact, before, null)
  if (fact.state !== 'approved' || !isCounted(owner)) return
  for (const entry of sink.entriesOf(owner, fact)) {
    const rule = entry.isConditional ? entry.rule : null
    for (const term of entry.terms) {
      if (!term.names(fact)) continue
      const condition = excludedBy(customer, rule, term, fact)
      if (condition === 'months') sink.refuses(entry, term, fact, 'expired', null)
      else if (condition !== null) sink.refuses(entry, term, fact, 'excluded', condition)
      else if ('counts' in term) sink.counts(entry, term, fact, null)
      else {
        const how = conversionOf(fact, term, entry.version.currency, rates)
        if (how === 'rate') sink.counts(entry, term, fact, null)
        else if (typeof how === 'bigint') sink.counts(entry, term, fact, how)
        else sink.refuses(entry, term, fact, how, null)
      }
    }
  }
}

/** Judges a fact also under `once` rules: those by which the customer qualified with it, and the others of its plan. */
export function judgeRecord(
  account: Account,
  evaluated: EvaluatedCustomer,
  fact: Fact,
  sink: RecordSink,
): void {
  judge(account, evaluated, fact, sink)
  const counting = [...evaluated.qualified.values()].filter(({ used }) => used.has(fact))
  for (const state of counting) sink.qualifies(state, fact)
  const owner = evaluated.ownerOf(fact)
  const { affiliate, version } = owner
  if (affiliate === null || version === null || reasonBeforeRules(fact, owner) !== null) return
  for (const rule of version.rules) {
    if (rule.kind !== 'once') continue
    if (counting.some((state) => state.version === version && state.rule === rule)) continue
    const entry = newEntry(affiliate, version, rule)
    refuseOnce(account, evaluated, { version, rule, fact }, (reason, condition = null) =>
      sink.refuses(entry, null, fact, reason, condition),
    )
  }
}

type Refuse = (reason: Reason, condition?: string | null) => void

/** A fact by which the customer did not qualify under a `once` rule. */
interface OnceFact {
  readonly version: Version
  readonly rule: CompiledOnce
  readonly fact: Fact
}

/** Says why a `once` rule does not count a fact; nothing if neither its trigger nor `qualify` names it. */
function refuseOnce(
  account: Account,
  { customer, once, qualified }: EvaluatedCustomer,
  { version, rule, fact }: OnceFact,
  tell: Refuse,
): void {
  const own = once.find((state) => state.version === version && state.rule === rule)
  const winner = qualified.get(rule.id)
  const waits = winner ? undefined : own?.blockers.find((one) => one.fact === fact)?.reason
  const isVoided = waits === undefined && own?.voided.has(fact)
  const refuse: Refuse = (reason, condition) => tell(reason, isVoided ? 'void_by' : condition)
  const isEarly = () => !sinceSignup(account, customer, fact, rule.grace)
  const refuseUnqualified = () => refuse('not_qualified', isEarly() ? 'before_signup' : null)
  if (isTriggerKind(rule, fact)) {
    const isMissed = () => {
      if (rule.min === null) return false
      const amount = triggerAmount(account, rule, fact, version.currency)
      return !('fact' in amount) && compare(amount, rule.min) < 0
    }
    const condition = excludedBy(customer, rule, null, fact)
    if (condition === 'months') refuse('expired')
    else if (condition !== null) refuse('excluded', condition)
    else if (waits !== undefined) refuse(waits)
    else if (!winner) refuseUnqualified()
    else if (fact.at <= winner.at && isMissed()) refuse('not_qualified')
    else refuse('already_counted')
    return
  }
  if (waits !== undefined) {
    refuse(waits)
    return
  }
  for (const qualification of rule.qualify) {
    if (qualification.kind === 'customer') continue
    for (const term of qualification.terms) {
      if (!term.names(fact)) continue
      const condition = excludedBy(customer, null, term, fact)
      if (condition !== null) refuse('excluded', condition)
      else if (winner) refuse('already_counted')
      else refuseUnqualified()
    }
  }
}

/** Returns what a rule sums over facts; nothing if it pays once, or follows lines. */
export function termsOf(rule: CompiledRule): readonly JudgedTerm[] {
  if (rule.kind === 'share') return rule.base.terms
  if (rule.kind === 'unit') return [rule.unit]
  if (rule.kind === 'once') return []
  if ('base' in rule.of) return rule.of.base.terms
  return 'unit' in rule.of ? [rule.of.unit] : []
}

/** Returns the entry of a rule that pays for facts of its earner. */
const newEntry = (earner: string, version: Version, rule: CompiledRule): Entry => ({
  earner,
  below: null,
  version,
  rule,
  purpose: 'paid',
  terms: termsOf(rule),
  isConditional: true,
})

/** Returns the rules that sum the facts of an owner. */
export const ownEntries = ({ affiliate, version }: CountedOwner): Entry[] =>
  (version?.rules ?? []).flatMap((rule) =>
    version && (rule.kind === 'share' || rule.kind === 'unit')
      ? [newEntry(affiliate, version, rule)]
      : [],
  )

/** Returns what the tiers of all versions of a plan measure over the facts that a version governs. */
function measuresOf({ inForce }: Account, affiliate: string, version: Version): Entry[] {
  return versionsOf(inForce, version.plan).flatMap((other) =>
    other.rules.flatMap((rule) => {
      const by = rule.tiers?.by
      if (!by || typeof by !== 'object' || !('terms' in by)) return []
      if (!version.rules.some(({ id }) => id === rule.id)) return []
      const purpose = other === version ? 'measure' : 'other measure'
      const own = newEntry(affiliate, other, rule)
      return [{ ...own, purpose, terms: by.terms, isConditional: false } as const]
    }),
  )
}

/**
 * Returns a function that finds the rules of a period under which the facts of an owner are judged: its own, and those of
 * its uplines. The tree is that of the period's last day.
 */
export function entriesIn(account: InPeriod): EntriesOf {
  const { kind } = account.period
  const entriesOf = memoize((affiliate: string) => {
    const above = entriesAbove(account, affiliate)
    return memoize((version: Version | null): readonly Entry[] => {
      if (version?.period !== kind) return above
      const own = ownEntries({ affiliate, version, reason: null })
      return [...own, ...measuresOf(account, affiliate, version), ...above]
    })
  })
  return ({ affiliate, version }) => entriesOf(affiliate)(version)
}

const KINDS: readonly PeriodKind[] = ['month', 'week']

/** Returns a function that finds the rules which pay for a fact in its month or its week. */
export function payingEntries(account: Account): EntriesOf {
  const inPeriod = memoize((id: string) => entriesIn({ ...account, period: storedPeriod(id) }))
  return (owner, fact) =>
    KINDS.flatMap((kind) => inPeriod(periodOf(fact.day, kind).id)(owner, fact)).filter(
      ({ purpose }) => purpose === 'paid',
    )
}

/** Returns the rules of uplines that facts of an affiliate enter: overrides over facts at their level, and tiers over the network. */
function entriesAbove(account: InPeriod, affiliate: string): Entry[] {
  const { tree, period } = account
  return tree
    .uplines(affiliate, period.last)
    .flatMap((upline, index) => [
      ...overridesOf(account, upline, index + 1),
      ...networkRulesOf(account, upline),
    ])
    .map((entry) => ({ ...entry, below: affiliate }))
}

/** Returns the overrides over facts that an upline earns from affiliates at the rule's level. */
function overridesOf({ inForce, period }: InPeriod, upline: string, level: number): Entry[] {
  const version = overrideVersion(inForce, upline, period.last)
  if (version?.period !== period.kind) return []
  return version.rules
    .filter(
      (rule) => rule.kind === 'override' && rule.source.level === level && termsOf(rule).length > 0,
    )
    .map((rule) => newEntry(upline, version, rule))
}

/** Returns the rules of any version of an upline's plans whose tiers measure facts of the network. */
function networkRulesOf({ inForce, period }: InPeriod, upline: string): Entry[] {
  return assignedPlans(inForce, upline)
    .flatMap(({ versions }) => versions)
    .filter((version) => version.period === period.kind)
    .flatMap((version) =>
      version.rules
        .filter(({ tiers }) => tiers?.network)
        .map((rule) => ({
          ...newEntry(upline, version, rule),
          purpose: 'measure',
          ...measured(rule),
        })),
    )
}

/** Returns what a rule's tiers measure over the network: what the rule sums, or a base of their own. */
function measured(rule: CompiledRule): Pick<Entry, 'terms' | 'isConditional'> {
  const by = rule.tiers?.by ?? null
  if (by === null || by === 'active') return { terms: termsOf(rule), isConditional: true }
  return { terms: 'once' in by ? [] : by.terms, isConditional: false }
}
