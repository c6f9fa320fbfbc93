import { addDays } from '../../commission/oracle/calendar.ts'
import { holdsFor, withinMonths } from '../../commission/oracle/conditions.ts'
import { convert, convertAmount, type Rates, readRates } from '../../commission/oracle/convert.ts'
import { compareText, type Fact, readFacts } from '../../commission/oracle/facts.ts'
import { type Attempt, attempt, earliest, type Qualified } from '../../commission/oracle/once.ts'
import { assignmentsOf, governing, type Version, versionsOf } from '../../commission/oracle/plan.ts'
import {
  add,
  divide,
  isPositive,
  multiply,
  ONE,
  parse,
  type Rational,
  round,
  sum,
  ZERO,
} from '../../commission/oracle/rational.ts'
import { fieldOf, unitsOf } from '../../commission/oracle/terms.ts'
import type { FraudWorld } from '../fraud-world.ts'

// What a rule sees of an affiliate on one day, read from a world anew for each day: slow and plain. It
// imports nothing of the service.

/** A customer's records up to a day, of the days on which the affiliate had the customer. */
export interface SeenCustomer {
  id: string
  facts: Fact[]
}

/** An affiliate on a day. */
export interface Scene {
  world: FraudWorld
  affiliate: string
  day: string
  currency: string
  /** In order of id. */
  customers: SeenCustomer[]
  /** Returns a number of a record in the currency of the scene; 0 if it is absent or has no rate. */
  amount: (fact: Fact, field: string) => Rational
  /** Returns how a customer qualified with this affiliate, as it was known on the day, the earliest first. */
  qualified: (customer: string) => Qualification[]
  /** Returns what unit rules pay for a record. */
  unitPay: (fact: Fact) => Rational
}

/** How a customer qualified. */
export interface Qualification {
  day: string
  facts: Fact[]
  /** The amounts that the rule asks for. */
  minimums: { kinds: string[]; least: Rational; reached: Rational }[]
}

/** A world of which nothing is known after a day. Nobody is refused. */
interface Known {
  facts: Fact[]
  rates: Rates
  plans: Map<string, Version[]>
  qualified: () => Map<string, Qualified[]>
}

const known = new WeakMap<FraudWorld, Map<string, Known>>()

function knownOn(world: FraudWorld, day: string): Known {
  const byDay = known.get(world) ?? new Map<string, Known>()
  known.set(world, byDay)
  const found = byDay.get(day) ?? readKnown(world, day)
  byDay.set(day, found)
  return found
}

function readKnown(world: FraudWorld, day: string): Known {
  // What takes a qualification back is left out.
  const withoutVoids = (version: Version): Version => ({
    ...version,
    rules: version.rules.map(({ void_by: _, ...rule }) => rule),
  })
  const plans = new Map(
    world.plans.map(({ plan }) => [plan, versionsOf(world, plan).map(withoutVoids)]),
  )
  const unrefused = { ...world, customers: world.customers.map(({ refused: _, ...one }) => one) }
  const facts = readFacts(unrefused, plans).facts.filter((fact) => fact.day <= day)
  const rates = readRates(world)
  let qualified: Map<string, Qualified[]> | null = null
  return {
    facts,
    rates,
    plans,
    qualified() {
      qualified ??= qualifiedOf(facts, rates, plans)
      return qualified
    },
  }
}

/** Returns the qualifications of each customer, one for each rule id. */
function qualifiedOf(facts: Fact[], rates: Rates, plans: Map<string, Version[]>) {
  const byCustomer = Map.groupBy(facts, (one) => one.customer.customer_id)
  return new Map(
    [...byCustomer].map(([id, own]) => {
      const attempts = new Map<string, Attempt[]>()
      for (const version of [...plans.values()].flat())
        for (const rule of version.rules)
          if (rule.kind === 'once')
            attempts.set(rule.id, [
              ...(attempts.get(rule.id) ?? []),
              attempt(rates, version, rule, own),
            ])
      return [id, [...attempts.values()].flatMap((all) => earliest(all) ?? [])]
    }),
  )
}

/** Returns the last plan version of an affiliate. */
export function lastVersion(world: FraudWorld, affiliate: string): Version | null {
  const assignment = assignmentsOf(world, affiliate).at(-1)
  if (!assignment) return null
  return governing(versionsOf(world, assignment.plan), assignment, assignment.from, '9999-12-31')
}

/** Returns what a rule sees of an affiliate on a day. */
export function sceneOf(world: FraudWorld, affiliate: string, day: string): Scene {
  const { facts, rates, qualified } = knownOn(world, day)
  const currency = lastVersion(world, affiliate)?.currency ?? 'EUR'
  const own = facts.filter((fact) => fact.affiliate === affiliate)
  const ids = world.customers.map(({ customer_id }) => customer_id).sort(compareText)
  return {
    world,
    affiliate,
    day,
    currency,
    customers: ids.map((id) => ({
      id,
      facts: own.filter(({ customer }) => customer.customer_id === id),
    })),
    amount(fact, field) {
      if (!fact.numbers.has(field)) return ZERO
      const converted = convert(rates, fact, field, currency)
      return typeof converted === 'string' ? ZERO : converted
    },
    qualified: (customer) =>
      (qualified().get(customer) ?? [])
        .filter(({ trigger }) => trigger.affiliate === affiliate)
        .sort(
          (a, b) =>
            compareText(a.day, b.day) ||
            compareText(a.attempt.version.plan, b.attempt.version.plan) ||
            compareText(a.attempt.rule.id, b.attempt.rule.id),
        )
        .map((one) => ({
          day: one.day,
          facts: [...one.used],
          minimums: minimumsOf(one, rates),
        })),
    unitPay: (fact) =>
      sum(
        unitPays(fact).map(({ paid, of }) => {
          const converted = convertAmount(rates, paid, of, currency, fact.day)
          return typeof converted === 'string' ? ZERO : converted
        }),
      ),
  }
}

function kindsOf(of: { transactions?: string[]; event?: string; kpi?: string }): string[] | null {
  if (of.transactions) return of.transactions
  return of.event !== undefined && (of.kpi === undefined || of.kpi === 'Value') ? [of.event] : null
}

function minimumsOf({ attempt: { rule, version, amount, conditions } }: Qualified, rates: Rates) {
  const { trigger, qualify = [] } = rule
  const kinds = kindsOf(trigger!)
  const byTrigger =
    kinds && trigger!.min !== undefined && amount
      ? [{ kinds, least: parse(trigger!.min), reached: amount }]
      : []
  const bySums = qualify.flatMap((condition, at) => {
    if (!condition.sum) return []
    const added = condition.sum.filter(({ times = '1' }) => isPositive(parse(times))).map(kindsOf)
    if (added.some((one) => one === null)) return []
    let reached = ZERO
    for (const fact of conditions[at]!.used)
      for (const term of condition.sum) {
        const field = fieldOf(term, fact)
        if (field === null || !holdsFor(term.when, fact)) continue
        const converted = convert(rates, fact, field, version.currency)
        if (typeof converted !== 'string')
          reached = add(reached, multiply(converted, parse(term.times ?? '1')))
      }
    return [
      {
        kinds: added.flatMap((one) => one!),
        least: parse(condition.min!),
        reached,
      },
    ]
  })
  return [...byTrigger, ...bySums]
}

/** Returns what each unit rule pays for a record, with its currency. */
function unitPays(fact: Fact): { paid: Rational; of: string }[] {
  const { version, reason, state } = fact
  if (!version || reason || state !== 'approved') return []
  return version.rules.flatMap((rule) => {
    if (rule.kind !== 'unit' || !holdsFor(rule.when, fact) || !withinMonths(rule, fact)) return []
    const units = unitsOf(rule.unit!, fact)
    if (!units) return []
    const rate = parse(rule.tiers ? rule.tiers.steps[0]!.amount! : rule.amount!)
    const each = rule.each === undefined ? ONE : parse(rule.each)
    return [{ paid: round(divide(multiply(units, rate), each), 12), of: version.currency }]
  })
}

/** Returns a day some days before another. */
export const before = (day: string, days: number) => addDays(day, -days)
