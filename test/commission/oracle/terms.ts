import { holdsFor } from './conditions.ts'
import { applyRates, conversion, currencyOf, type NoRate, type Rates } from './convert.ts'
import type { Fact } from './facts.ts'
import type { Term, Unit } from './plan.ts'
import { add, multiply, ONE, parse, type Rational, ZERO } from './rational.ts'

/** Returns the field that a term adds up, if the term names the fact: only then does it carry it. */
export function fieldOf(term: Term, fact: Fact): string | null {
  let field: string | null = null
  if (term.transactions && fact.resource === 'transactions') {
    const { subtypes } = term
    const isNamed =
      term.transactions.includes(fact.type!) &&
      (subtypes === undefined || (fact.subtype !== undefined && subtypes.includes(fact.subtype)))
    if (isNamed) field = 'amount_currency'
  }
  if (term.activity && fact.resource === 'trading-activity') field = term.activity
  if (term.event && fact.resource === 'activities' && fact.type === term.event)
    field = term.kpi ?? 'Value'
  return field !== null && fact.numbers.has(field) ? field : null
}

/** Returns whether a `count` names a fact. */
export function isCounted(
  count: { transactions?: string[]; event?: string; activity?: string },
  fact: Fact,
): boolean {
  if (count.transactions && fact.resource === 'transactions')
    return count.transactions.includes(fact.type!)
  if (count.event && fact.resource === 'activities') return count.event === fact.type
  return (
    !!count.activity && fact.resource === 'trading-activity' && fact.numbers.has(count.activity)
  )
}

/** Returns the units of a fact, or null if the unit does not name it. */
export function unitsOf(unit: Unit, fact: Fact): Rational | null {
  if (unit.count) return isCounted(unit.count, fact) ? ONE : null
  const field = fieldOf(unit, fact)
  return field === null ? null : fact.numbers.get(field)!
}

/**
 * Returns by what each term's amounts are multiplied in all: its `times`, and each later `of` that
 * names it, which takes a part of it again.
 */
export function weightsOf(terms: Term[]): Rational[] {
  const weights: Rational[] = []
  for (let at = terms.length - 1; at >= 0; at -= 1) {
    const { name, times = '1' } = terms[at]!
    let parts = ONE
    for (let later = at + 1; later < terms.length; later += 1)
      if (name !== undefined && terms[later]!.of?.includes(name))
        parts = add(parts, weights[later]!)
    weights[at] = multiply(parse(times), parts)
  }
  return weights
}

export interface Held {
  fact: Fact
  field: string
  reason: NoRate
}

export interface Money {
  currency: string
  amount: Rational
  converted: Rational
}

export interface Base {
  /** The sum of all terms but the `fixed` ones. */
  total: Rational
  /** The sum of the `fixed` terms. */
  fixed: Rational
  counted: Set<Fact>
  held: Held[]
  fx: Map<string, Money>
}

/**
 * Adds up a base over facts that meet the conditions of the rule (§12, §16.16). A base converts and
 * rounds once for each term, customer, product, day and currency. Facts that are converted through
 * their `amount_usd` are converted alone.
 */
export function baseOf(rates: Rates, terms: Term[], facts: Fact[], currency: string): Base {
  const base: Base = { total: ZERO, fixed: ZERO, counted: new Set(), held: [], fx: new Map() }
  const weights = weightsOf(terms)
  terms.forEach((term, at) => {
    const weight = weights[at]!
    if (term.fixed !== undefined) base.fixed = add(base.fixed, multiply(parse(term.fixed), weight))
    const groups = new Map<string, { from: Rational; to: Rational; code: string; sum: Rational }>()
    const enter = (code: string, amount: Rational, converted: Rational) => {
      const before = base.fx.get(code) ?? { currency: code, amount: ZERO, converted: ZERO }
      base.fx.set(code, {
        currency: code,
        amount: add(before.amount, multiply(amount, weight)),
        converted: add(before.converted, multiply(converted, weight)),
      })
      base.total = add(base.total, multiply(converted, weight))
    }
    for (const fact of facts) {
      const field = fieldOf(term, fact)
      if (field === null || !holdsFor(term.when, fact)) continue
      const how = conversion(rates, fact, field, currency)
      if (how.by === 'nothing') {
        base.held.push({ fact, field, reason: how.reason })
        continue
      }
      base.counted.add(fact)
      const amount = fact.numbers.get(field)!
      const code = currencyOf(fact, field)!
      if (how.by !== 'rates') {
        enter(code, amount, how.value)
        continue
      }
      const key = JSON.stringify([fact.customer.customer_id, fact.product, fact.day, code])
      const group = groups.get(key) ?? { from: how.from, to: how.to, code, sum: ZERO }
      groups.set(key, { ...group, sum: add(group.sum, amount) })
    }
    for (const { from, to, code, sum } of groups.values())
      enter(code, sum, applyRates(sum, from, to))
  })
  return base
}
