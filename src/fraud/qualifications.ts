import { type Context, fieldsOn } from '../commission/engine/context.ts'
import { add, type Decimal, isPositive, ZERO } from '../commission/engine/decimal.ts'
import { type EvaluatedCustomer, evaluateCustomer } from '../commission/engine/evaluate.ts'
import { type Customer, compareFacts, compareText, type Fact } from '../commission/engine/facts.ts'
import type { OnceState } from '../commission/engine/once.ts'
import type { FactTerm, Trigger } from '../commission/engine/plan.ts'
import { termAmount } from '../commission/engine/qualify.ts'
import type { CompiledOnce } from '../commission/engine/rules.ts'
import type { Minimum, Qualified } from './kind.ts'

/** A qualification, and the affiliate of its trigger. */
export interface OwnQualified extends Qualified {
  readonly affiliate: string | null
}

/**
 * Returns the qualifications of a customer, each with the days on which it was known, in order of day. Only
 * records that `void_by` names can take one back, so those before each of their days are evaluated again.
 *
 * @param evaluated By all records.
 */
export function qualificationsOf(context: Context, evaluated: EvaluatedCustomer): OwnQualified[] {
  const { customer } = evaluated
  const found = new Map<string, { readonly one: OwnQualified; readonly parts: Known[] }>()
  let from = Number.NEGATIVE_INFINITY
  for (const until of [...lastDaysBeforeVoids(evaluated), Number.POSITIVE_INFINITY]) {
    const states =
      until === Number.POSITIVE_INFINITY
        ? evaluated.qualified
        : evaluateCustomer(context, upTo(customer, until)).qualified
    for (const state of states.values()) {
      const one = qualifiedOf(context, customer, state)
      const key = JSON.stringify([
        one.plan,
        state.version.version,
        one.rule,
        one.day,
        one.facts.map(({ resource, id }) => [resource, id]),
      ])
      const { parts } = found.get(key) ?? { parts: [] }
      const last = parts.at(-1)
      const isSame = last !== undefined && last.until === from - 1
      found.set(key, {
        one,
        parts: isSame
          ? [...parts.slice(0, -1), { from: last.from, until }]
          : [...parts, { from, until }],
      })
    }
    from = until + 1
  }
  return [...found.values()]
    .flatMap(({ one, parts }) => parts.map((known) => ({ ...one, known })))
    .sort(
      (a, b) =>
        a.day - b.day ||
        compareText(a.plan, b.plan) ||
        compareText(a.rule, b.rule) ||
        a.known.from - b.known.from,
    )
}

type Known = Qualified['known']

const upTo = (customer: Customer, day: number): Customer => ({
  ...customer,
  facts: customer.facts.filter((fact) => fact.day <= day),
})

/** Returns the days before those with records that `void_by` of a rule names, in order. */
function lastDaysBeforeVoids({ customer, once }: EvaluatedCustomer): number[] {
  const terms = once.flatMap(({ rule, trigger }) => (trigger && rule.voidBy?.terms) || [])
  if (terms.length === 0) return []
  const days = customer.facts
    .filter((fact) => terms.some((term) => term.names(fact)))
    .map(({ day }) => day - 1)
  return [...new Set(days)].sort((a, b) => a - b)
}

function qualifiedOf(context: Context, customer: Customer, state: OnceState): OwnQualified {
  const { version, rule, day, affiliate, used } = state
  return {
    affiliate,
    plan: version.plan,
    rule: rule.id,
    day,
    known: { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY },
    minimums: [...triggerMinimum(state), ...sumMinimums(context, customer, state)],
    facts: [...used].sort(compareFacts),
  }
}

/** Returns the least amount of a trigger, if its rule has one. */
function triggerMinimum({ version, rule, amount }: OnceState): Minimum[] {
  const source = version.source.rules.find(({ id }) => id === rule.id)
  const trigger = source?.kind === 'once' ? source.trigger : null
  const kinds = trigger && kindsOf(trigger)
  return kinds && rule.min !== null && amount !== null
    ? [{ kinds, least: rule.min, reached: amount, currency: version.currency }]
    : []
}

/** Returns the sums that a rule asks for, where they sum amounts that were paid. */
function sumMinimums(context: Context, customer: Customer, state: OnceState): Minimum[] {
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
        reached: sumOf(context, customer, one.terms, reached.used, version.currency),
        currency: version.currency,
      },
    ]
  })
}

type Terms = Extract<CompiledOnce['qualify'][number], { readonly terms: unknown }>['terms']

function sumOf(
  context: Context,
  customer: Customer,
  terms: Terms,
  facts: readonly Fact[],
  currency: string,
): Decimal {
  let total = ZERO
  for (const fact of facts) {
    for (const term of terms) {
      if (!term.names(fact) || term.when(fieldsOn(customer, fact.day), fact) !== null) continue
      const amount = termAmount(context, term, fact, currency)
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
