import type * as v from 'valibot'
import type { Fixed } from '../../platform/http/operation-words.ts'
import { memoize } from '../../platform/memoize.ts'
import { type Period, periodOf } from '../../platform/money/calendar.ts'
import {
  add,
  type Decimal,
  fromFact,
  integer,
  multiply,
  plainText,
  ZERO,
} from '../../platform/money/decimal.ts'
import { convertUnits } from '../../platform/money/exchange.ts'
import type { outcome, RecordEarnings } from '../shapes/explanations.ts'
import { type Reason, rankOf, type Verdict } from '../shapes/reasons.ts'
import type { Account } from './account.ts'
import { amountOf, type Fact } from './facts.ts'
import {
  type EntriesOf,
  type Entry,
  type EvaluatedCustomer,
  type JudgedTerm,
  judgeRecord,
  type RecordSink,
} from './judge.ts'
import { isTriggerKind, type OnceState, triggerAmount } from './once.ts'
import { type QualificationReport, reportOnce } from './once-report.ts'
import { payerOf } from './override.ts'
import type { CompiledRule } from './rules.ts'

// What one record comes to: why rules do not count it, and what it adds to the lines that do.

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

/** The verdict of one rule on a fact. */
interface RuleVerdict extends Pick<Entry, 'version' | 'rule'> {
  readonly verdict: Verdict
  /** The condition that did not hold, such as `not_countries` or `void_by`. */
  readonly condition: string | null
}

/** The verdict of each rule of its plan that names a fact (§16.10), and of one that counts it although its plan does not. */
interface Verdicts {
  /** Why the fact earns nothing whatever the rules say; null if they decide. */
  readonly before: Reason | null
  readonly rules: readonly RuleVerdict[]
  /** The rule that decides; null if none does. */
  readonly by: RuleVerdict | null
}

function verdictsOn(
  account: Account,
  entriesOf: EntriesOf,
  evaluated: EvaluatedCustomer,
  fact: Fact,
): Verdicts {
  let before: Reason | null = null
  let above: RuleVerdict | null = null
  const found = new Map<CompiledRule, RuleVerdict>()
  const qualified: RuleVerdict[] = []
  /** Of several terms of a rule, the verdict counts that is further down the list of reasons. */
  const note = ({ version, rule }: Entry, verdict: Verdict, condition: string | null) => {
    const known = found.get(rule)
    if (known && rankOf(verdict) <= rankOf(known.verdict)) return
    found.set(rule, { version, rule, verdict, condition })
  }
  const sink: RecordSink = {
    entriesOf,
    counts(entry) {
      if (entry.below === null) note(entry, 'counted', null)
      else if (isBooked(account, entry, fact)) above ??= counted(entry)
    },
    refuses(entry, _term, _fact, reason, condition) {
      if (entry === null) before = reason
      else if (entry.below === null) note(entry, reason, condition)
    },
    qualifies(state) {
      qualified.push(counted(state))
    },
  }
  judgeRecord(account, evaluated, fact, sink)
  const { version } = evaluated.ownerOf(fact)
  const own = (version?.rules ?? []).flatMap((rule) => found.get(rule) ?? [])
  const rules = [...own, ...qualified]
  const first = furthest(qualified) ?? furthest(own)
  if (first?.verdict === 'counted' || above === null) return { before, rules, by: first }
  return { before, rules: [...rules, above], by: above }
}

const counted = ({ version, rule }: Pick<RuleVerdict, 'version' | 'rule'>): RuleVerdict => ({
  version,
  rule,
  verdict: 'counted',
  condition: null,
})

/** Returns the first verdict that is furthest down the list of reasons. */
const furthest = (all: readonly RuleVerdict[]): RuleVerdict | null =>
  all.reduce<RuleVerdict | null>(
    (last, one) => (last && rankOf(one.verdict) <= rankOf(last.verdict) ? last : one),
    null,
  )

/** Whether the line of an entry exists: one that the affiliate below pays for needs its plan and a rate. */
function isBooked(account: Account, { below, version, rule }: Entry, fact: Fact): boolean {
  if (below === null || rule.kind !== 'override' || rule.source.funded_by !== 'downline')
    return true
  const { last } = periodOf(fact.day, version.period)
  return payerOf(account, version, below, last)?.waits === null
}

/**
 * Yields the facts of a customer in a period with their outcomes as of its last day: whoever asks for one does not need
 * the rates of later ones.
 */
export function* reportFacts(
  account: Account,
  entriesOf: EntriesOf,
  evaluated: EvaluatedCustomer,
  { first, last }: Period,
): Generator<FactReport> {
  const { facts, customer_id } = evaluated.customer
  // Few facts need them.
  const reports = memoize((day: number) => reportOnce(account, evaluated, day))
  for (const fact of facts) {
    if (fact.day < first || fact.day > last) continue
    const { before, rules, by } = verdictsOn(account, entriesOf, evaluated, fact)
    const outcomeBy = (one: RuleVerdict): FactOutcome => ({
      reason: one.verdict,
      plan: one.version.plan,
      version: one.version.version,
      rule: one.rule.id,
      ...conditionOf(account, fact, one, () => reports(last)),
    })
    const none = { plan: null, version: null, rule: null, condition: null }
    yield {
      fact,
      customer_id,
      affiliate_id: evaluated.ownerOf(fact).affiliate,
      state: by === null ? { reason: before ?? 'no_rule', ...none } : outcomeBy(by),
      rules: rules.map(outcomeBy),
    }
  }
}

/** The condition that keeps a fact from being counted, what has been reached of it, and until when it can be. */
type Missing = Pick<FactOutcome, 'condition' | 'reached' | 'min' | 'until'>
/** Returns what a rule misses: what the customer misses under it, or the `min` of the fact itself. */
function conditionOf(
  account: Account,
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
    const amount = triggerAmount(account, rule, fact, version.currency)
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

/** A line that counts a record, and for how much. */
export type Earning = Omit<RecordEarnings['lines'][number], 'line_id'>

/**
 * Returns the lines that count a fact. Each adds the fact alone to its base, so amounts that convert
 * together with others can differ in the 12th place.
 *
 * @param evaluated The customer as of the end of the period that is asked for.
 */
export function earningsOf(
  account: Account,
  entriesOf: EntriesOf,
  evaluated: EvaluatedCustomer,
  fact: Fact,
): Earning[] {
  const { customer_id } = evaluated.customer
  const once: Earning[] = []
  const sums = new Map<Entry, Decimal>()
  judgeRecord(account, evaluated, fact, {
    entriesOf,
    counts(entry, term, _fact, converted) {
      const added = addedTo(account, entry, [term, fact], converted)
      sums.set(entry, add(sums.get(entry) ?? ZERO, added))
    },
    refuses() {},
    qualifies(state) {
      if (state.affiliate !== null) once.push(onceEarning(state, state.affiliate, fact))
    },
  })
  return [
    ...once,
    ...[...sums]
      .filter(([entry]) => isBooked(account, entry, fact))
      .map(([entry, sum]) => earningOf(entry, sum, customer_id, fact)),
  ]
}

/** Returns what a fact alone adds to the base or the units of an entry. */
function addedTo(
  { rates }: Account,
  { version: { currency } }: Entry,
  [term, fact]: readonly [JudgedTerm, Fact],
  converted: bigint | null,
): Decimal {
  const amount = amountOf(fact, term.field)
  if ('counts' in term) return term.counts ? integer(fact.count) : fromFact(amount)
  const from = term.currencyOf(fact) ?? currency
  const units = converted ?? convertUnits(amount, from, currency, fact.day, rates)
  return typeof units === 'bigint' ? multiply(fromFact(units), term.weight) : ZERO
}

function earningOf(
  { earner, below, version, rule }: Entry,
  sum: Decimal,
  customer: string,
  fact: Fact,
): Earning {
  const isUnits = rule.kind === 'unit' || (rule.kind === 'override' && 'unit' in rule.of)
  const text = plainText(sum)
  return {
    affiliate_id: earner,
    plan: version.plan,
    version: version.version,
    rule: rule.id,
    kind: rule.kind,
    period: periodOf(fact.day, version.period).id,
    scope: below === null ? scopeOf(rule, customer, fact) : `affiliate:${below}`,
    base: isUnits ? null : text,
    units: isUnits ? text : null,
    currency: version.currency,
    as: isUnits ? 'units' : 'base',
  }
}

function scopeOf(rule: CompiledRule, customer: string, { product }: Fact): string {
  if (rule.kind !== 'share' || rule.per === 'affiliate') return 'affiliate'
  return rule.per === 'customer' ? `customer:${customer}` : `product:${product ?? ''}`
}

function onceEarning(state: OnceState, affiliate: string, fact: Fact): Earning {
  const { customerId, version, rule, trigger, day, amount } = state
  const isBase = trigger === fact && rule.rateIs === 'percent'
  return {
    affiliate_id: affiliate,
    plan: version.plan,
    version: version.version,
    rule: rule.id,
    kind: rule.kind,
    period: periodOf(day, version.period).id,
    scope: `customer:${customerId}`,
    base: isBase && amount !== null ? plainText(amount) : null,
    units: null,
    currency: version.currency,
    as: trigger === fact ? 'trigger' : 'qualification',
  }
}
