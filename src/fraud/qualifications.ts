import type { Account } from '../commission/engine/account.ts'
import { type Customer, compareFacts, type Fact } from '../commission/engine/facts.ts'
import type { EvaluatedCustomer } from '../commission/engine/judge.ts'
import type { OnceState } from '../commission/engine/once.ts'
import type { Plan, PlansInForce, Version } from '../commission/engine/plans-in-force.ts'
import { takes, termAmount } from '../commission/engine/qualify.ts'
import { type CompiledOnce, type CompiledRule, compileRule } from '../commission/engine/rules.ts'
import type { FactTerm, Qualification, Trigger } from '../commission/plans/types.ts'
import { compareText } from '../platform/compare-text.ts'
import { add, type Decimal, isPositive, ZERO } from '../platform/money/decimal.ts'
import {
  customersWith,
  hardlyTradedAfter,
  isNamed,
  signedUp,
  WITH_CHANGES,
} from './db/candidates.ts'
import type { CandidateSource, Candidates, Minimum, Qualified } from './kind.ts'

/** A qualification, and the affiliate of its trigger. */
interface OwnQualified extends Qualified {
  readonly affiliate: string | null
}

/** Returns the qualifications of a customer with all affiliates, in order of day. */
export const qualificationsOf = (
  account: Account,
  { customer, qualified }: EvaluatedCustomer,
): OwnQualified[] =>
  [...qualified.values()]
    .map((state) => qualifiedOf(account, customer, state))
    .sort((a, b) => a.day - b.day || compareText(a.plan, b.plan) || compareText(a.rule, b.rule))

/**
 * Returns plans of which nothing takes a qualification back: it would change what is known of earlier days, and who
 * qualified and left is no less suspect.
 */
export const withoutVoids = ({ plans, ...others }: PlansInForce): PlansInForce => {
  const ofRule = (rule: CompiledRule): CompiledRule => {
    if (rule.kind !== 'once') return rule
    // Its trigger may then need no amount, and so no rate.
    const { void_by: _, ...source } = rule.source
    return compileRule(source)
  }
  const ofVersion = (version: Version): Version => ({
    ...version,
    rules: version.rules.map(ofRule),
  })
  const ofPlan = (plan: Plan): Plan => {
    const versions = plan.versions.map(ofVersion)
    return { ...plan, versions, first: versions[0] ?? plan.first }
  }
  return { ...others, plans: new Map([...plans].map(([id, plan]) => [id, ofPlan(plan)])) }
}

function qualifiedOf(account: Account, customer: Customer, state: OnceState): OwnQualified {
  const { version, rule, day, affiliate, used } = state
  return {
    affiliate,
    plan: version.plan,
    rule: rule.id,
    day,
    minimums: [...triggerMinimum(state), ...sumMinimums(account, customer, state)],
    facts: [...used].sort(compareFacts),
  }
}

/** Returns the least amount of a trigger, if its rule has one. */
function triggerMinimum({ version, rule, amount }: OnceState): Minimum[] {
  const source = version.source.rules.find(({ id }) => id === rule.id)
  const trigger = source?.kind === 'once' ? source.trigger : null
  const kinds = trigger && kindsOf(trigger)
  return kinds && rule.min !== null && amount !== null
    ? [{ kinds, least: rule.min, reached: amount }]
    : []
}

/** Returns the sums that a rule asks for, where they sum amounts that were paid. */
function sumMinimums(account: Account, customer: Customer, state: OnceState): Minimum[] {
  const { rule, version, progress } = state
  return rule.qualify.flatMap((one, i) => {
    const reached = progress[i]
    if (one.kind !== 'sum' || reached?.status !== 'met') return []
    const kinds = one.terms
      .filter(({ times }) => isPositive(times))
      .map(({ source }) => kindsOf(source))
    if (kinds.some((own) => own === null)) return []
    return [
      {
        kinds: kinds.flatMap((own) => own ?? []),
        least: one.min,
        reached: sumOf(account, customer, one.terms, reached.used, version.currency),
      },
    ]
  })
}

type Terms = Extract<CompiledOnce['qualify'][number], { readonly terms: unknown }>['terms']

function sumOf(
  account: Account,
  customer: Customer,
  terms: Terms,
  facts: readonly Fact[],
  currency: string,
): Decimal {
  let total = ZERO
  for (const fact of facts) {
    for (const term of terms) {
      if (!takes(customer, term, fact)) continue
      const amount = termAmount(account, term, fact, currency)
      if (!('fact' in amount)) total = add(total, amount)
    }
  }
  return total
}

/** Returns the transactions or the event whose amount is meant; null if it is another amount. */
function kindsOf(of: Trigger | FactTerm): readonly string[] | null {
  if ('transactions' in of) return of.transactions
  if ('event' in of && (of.kpi === undefined || of.kpi === 'Value')) return [of.event]
  return null
}

/** Returns whether a condition can be met on the signup day, or some days after it, without a record of that day. */
const isMetBySignup = (one: Qualification): boolean =>
  'customer' in one || Number(one.min) <= 0 || ('sum' in one && one.at === 'end')

/**
 * Returns the customers with records by which a `once` rule can qualify them on a day, and who traded on fewer than
 * `active` of the `idle` days after. Where a rule decides after some days, the records of these days count, too.
 */
export function qualifyingCandidates(
  { inForce }: CandidateSource,
  idle: number,
  active: number,
): Candidates {
  const versions = [...inForce.plans.values()].flatMap((plan) => plan.versions)
  const rules = versions.flatMap(({ source }) =>
    source.rules.filter((rule) => rule.kind === 'once'),
  )
  const qualify = rules.flatMap((rule) => rule.qualify ?? [])
  const kinds = [
    ...rules.map(({ trigger }) => trigger),
    ...qualify.flatMap((one) => {
      if ('sum' in one) return one.sum
      return 'count' in one ? [one.count] : []
    }),
  ]
  const types = kinds.flatMap((one) => ('transactions' in one ? one.transactions : []))
  const names = kinds.flatMap((one) => ('event' in one ? one.event : []))
  const sql = [
    customersWith('transactions', isNamed('t.transaction_type', types)),
    customersWith('events', isNamed('t.eventname', names)),
    ...(kinds.some((one) => 'activity' in one) ? [customersWith('activity')] : []),
    ...(kinds.some((one) => 'signup' in one) || qualify.some(isMetBySignup) ? [signedUp()] : []),
    ...(qualify.some((one) => 'customer' in one) ? [WITH_CHANGES] : []),
  ].join(' union all ')
  const ends = qualify.flatMap((one) =>
    'sum' in one && one.at === 'end' ? (one.within_days ?? 0) : [],
  )
  if (ends.length > 0) return { sql, after: idle, days: Math.max(...ends) + 1 }
  return { sql: hardlyTradedAfter(sql), values: { active, idle }, after: idle }
}
