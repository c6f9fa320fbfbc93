import { below } from './account.ts'
import { type Books, joinKey, linesOf } from './books.ts'
import { lastDay, periodOf, quarterOf } from './calendar.ts'
import { holdsFor, withinMonths } from './conditions.ts'
import type { Draft } from './drafts.ts'
import { type Fact, inTime } from './facts.ts'
import type { Rule, Term, Tiers, Version } from './plan.ts'
import { add, count, divide, ONE, parse, type Rational, sum, ZERO } from './rational.ts'
import { baseOf, type Held, unitsOf } from './terms.ts'

// Measures of tiers over all versions of a plan, each of the kind that the line's version names (§16.5).

/** Returns the earning facts of affiliates in a period, under any plan, in order of time. */
export const factsOf = (books: Books, affiliates: string[], period: string) =>
  affiliates.length === 1
    ? (books.earning.get(joinKey(affiliates[0], period)) ?? [])
    : affiliates.flatMap((one) => books.earning.get(joinKey(one, period)) ?? []).sort(inTime)

export const accepted = (rule: Rule, facts: Fact[]) =>
  facts.filter((fact) => holdsFor(rule.when, fact) && withinMonths(rule, fact))

/** Returns units after `each`. */
export const inUnits = (rule: Rule, raw: Rational) => divide(raw, parse(rule.each ?? '1'))

/** Names what a rule measures without `by`: money, lines of `once` rules, or units of one kind. */
function unitOf({ kind, unit, of }: Rule): string {
  const units = unit ?? of?.unit
  if (units) return JSON.stringify(units)
  return kind === 'once' || of?.once !== undefined ? 'once' : 'money'
}

/** Returns what a line of any version adds to the measure that a rule names: nothing in another unit. */
export function measuredBy(rule: Rule, line: Draft): Rational {
  if (unitOf(line.rule) !== unitOf(rule)) return ZERO
  return line.units ? inUnits(rule, line.units) : line.measured
}

interface Network {
  value: Rational
  customers: Set<string>
  held: Held[]
}

const customersOf = (facts: Iterable<Fact>) =>
  new Set([...facts].map((fact) => fact.customer.customer_id))

const withoutFixed = (terms: Term[]) => terms.filter((term) => term.fixed === undefined)

/** Returns the number of `once` lines of a rule id that `max_count` did not take. */
const onceLines = (
  books: Books,
  rule: string,
  isOf: (affiliate: string, plan: string, day: string) => boolean,
) =>
  count(
    books.once.filter(
      (one) =>
        one.rule === rule && !one.overCount && isOf(one.affiliate, one.plan, one.qualified.day),
    ).length,
  )

/** Measures the facts of all affiliates below, by the tree of the period's last day. */
export function network(
  books: Books,
  affiliate: string,
  version: Version,
  rule: Rule,
  period: string,
): Network {
  const { rates } = books.account
  const { by } = rule.tiers!
  const affiliates = below(books.account, affiliate, lastDay(period))
  const facts = factsOf(books, affiliates, period)
  const none: Network = { value: ZERO, customers: new Set(), held: [] }
  const once = by?.once ?? (rule.kind === 'once' && !by?.base ? rule.id : undefined)
  if (once !== undefined) {
    const isBelow = (one: string, _plan: string, day: string) =>
      affiliates.includes(one) && periodOf(version.period, day) === period
    return { ...none, value: onceLines(books, once, isBelow) }
  }
  if (by?.base) {
    const base = baseOf(rates, by.base, facts, version.currency)
    return { ...none, value: base.total, held: base.held }
  }
  const own = accepted(rule, facts)
  if (rule.kind === 'unit') {
    const named = own.filter((fact) => unitsOf(rule.unit!, fact) !== null)
    const raw = sum(named.map((fact) => unitsOf(rule.unit!, fact)!))
    return { ...none, value: inUnits(rule, raw), customers: customersOf(named) }
  }
  const base = baseOf(rates, withoutFixed(rule.base!), own, version.currency)
  return { value: base.total, customers: customersOf(base.counted), held: base.held }
}

/** Returns the measure of one period, without windows. */
function measureOf(
  books: Books,
  affiliate: string,
  version: Version,
  rule: Rule,
  period: string,
): Rational {
  const { by, over } = rule.tiers!
  const lines = linesOf(books, affiliate, version.plan, period).filter(
    (line) => line.rule.id === rule.id,
  )
  const around = over === 'network' ? network(books, affiliate, version, rule, period) : null
  const value = around?.value ?? ZERO
  // Each CPA of a `once` rule is one of its active customers.
  if (by?.customers && rule.kind !== 'once') {
    const own = lines.flatMap((line) => [...customersOf(line.counted)])
    return count(new Set([...own, ...(around?.customers ?? [])]).size)
  }
  if (by?.once !== undefined) {
    const isOwn = (one: string, plan: string, day: string) =>
      one === affiliate && plan === version.plan && periodOf(version.period, day) === period
    return add(value, onceLines(books, by.once, isOwn))
  }
  if (by?.base) return add(value, ownBase(books, affiliate, version, rule, by.base, period))
  return add(value, sum(lines.map((line) => measuredBy(rule, line))))
}

/** Adds up `by.base` over the facts of all versions of the plan that have the rule. */
function ownBase(
  books: Books,
  affiliate: string,
  version: Version,
  rule: Rule,
  terms: Term[],
  period: string,
): Rational {
  const facts = factsOf(books, [affiliate], period).filter(
    (fact) =>
      fact.version?.plan === version.plan && fact.version.rules.some(({ id }) => id === rule.id),
  )
  return baseOf(books.account.rates, terms, facts, version.currency).total
}

/** Returns the earlier periods that a window adds. */
function windowOf(books: Books, version: Version, tiers: Tiers, period: string): string[] {
  const earlier = books.periods[version.period].filter((one) => one < period)
  if (tiers.window === 'lifetime') return earlier
  if (tiers.window !== 'quarter') return []
  return earlier.filter((one) => quarterOf(lastDay(one)) === quarterOf(lastDay(period)))
}

/** Returns the measure of a rule's tiers, and how much of it earlier periods of its window make. */
export function measuresFor(
  books: Books,
  affiliate: string,
  version: Version,
  rule: Rule,
  period: string,
) {
  if (!rule.tiers) return null
  const earlier = sum(
    windowOf(books, version, rule.tiers, period).map((one) =>
      measureOf(books, affiliate, version, rule, one),
    ),
  )
  return { earlier, measure: add(earlier, measureOf(books, affiliate, version, rule, period)) }
}

/** The measure of one `once` line. */
export const onceMeasured = (overCount: boolean) => (overCount ? ZERO : ONE)
