import { addDays, DAY_MS } from './calendar.ts'
import { holds, holdsFor, withinMonths } from './conditions.ts'
import { convert, type Rates } from './convert.ts'
import { compareText, type Fact, inTime } from './facts.ts'
import type { Qualify, Rule, Version } from './plan.ts'
import {
  add,
  compare,
  isPositive,
  isZero,
  multiply,
  parse,
  type Rational,
  ZERO,
} from './rational.ts'
import { fieldOf, type Held, isCounted, weightsOf } from './terms.ts'

// `once`: who qualifies, by which fact, on which day, and what waits.

const HOUR_MS = 3_600_000

/** Where one condition of `qualify` stands. */
export interface Reach {
  /** When it was reached, or null. */
  reached: { day: string; instant: number } | null
  /** The facts that it used until it was reached. */
  used: Set<Fact>
  /** The first fact without a rate that came before it was reached: each of its amounts. */
  blocked: Held[]
}

/** One customer under one `once` rule of one version. */
export interface Attempt {
  version: Version
  rule: Rule
  candidate: Fact | null
  /** The trigger's converted amount, where the rule needs it. */
  amount: Rational | null
  /** What the candidate waits for: its own amount, or a fact of `void_by`. */
  waits: Held[]
  conditions: Reach[]
}

/** A customer who qualified. */
export interface Qualified {
  attempt: Attempt
  trigger: Fact
  day: string
  instant: number
  used: Set<Fact>
}

/** Returns whether a fact is of the kind that the trigger names. Without a `min`, one of amount 0 is not. */
export function isTrigger(rule: Rule, fact: Fact): boolean {
  const { signup, event, kpi, min } = rule.trigger!
  if (signup) return fact.resource === 'customers'
  const amount = fact.numbers.get(triggerField(rule))
  if (min === undefined && amount && isZero(amount)) return false
  if (event !== undefined && kpi === undefined && !needsAmount(rule))
    return isCounted({ event }, fact)
  return fieldOf(rule.trigger!, fact) !== null
}

/** Returns the field with a trigger's amount. */
export const triggerField = ({ trigger }: Rule) =>
  trigger!.transactions ? 'amount_currency' : (trigger!.kpi ?? 'Value')

/** Returns whether the rule pays a percentage of the trigger's amount. */
export const paysPercent = ({ percent, tiers }: Rule) =>
  percent !== undefined || !!tiers?.steps.some((step) => step.percent !== undefined)

/** Returns whether the rule needs the trigger's amount in the plan's currency. */
export const needsAmount = (rule: Rule) =>
  rule.trigger!.min !== undefined || rule.void_by !== undefined || paysPercent(rule)

/** Returns whether a fact is of a time that can be. */
const isReal = ({ reason }: Fact) => reason !== 'implausible_time'

/** Returns whether a fact is not too early for a rule: at most the hours of grace before the signup. */
function isLateEnough({ grace_hours = 24 }: Rule, fact: Fact): boolean {
  const start = fact.customer.signup - grace_hours * HOUR_MS
  return fact.wholeDay ? fact.day >= fact.dayOf(start) : fact.instant >= start
}

/** Returns whether a fact lies before the end of the `within_days` that begin with a signup. */
function inWindow(fact: Fact, days: number | undefined): boolean {
  if (days === undefined) return true
  const { signup } = fact.customer
  if (fact.wholeDay) return fact.day <= addDays(fact.signupDay, days)
  return fact.instant < signup + days * DAY_MS
}

/** What a fact adds to a sum or count: a number, or what is held. Null: the condition omits it. */
function addedBy(
  rates: Rates,
  condition: Qualify,
  fact: Fact,
  currency: string,
): { value: Rational; held: Held[] } | null {
  if (condition.count)
    return isCounted(condition.count, fact) ? { value: parse(1), held: [] } : null
  const terms = condition.sum!
  const weights = weightsOf(terms)
  let value: Rational | null = null
  const held: Held[] = []
  terms.forEach((term, at) => {
    const field = fieldOf(term, fact)
    if (field === null || !holdsFor(term.when, fact)) return
    const converted = convert(rates, fact, field, currency)
    value ??= ZERO
    if (typeof converted === 'string') held.push({ fact, field, reason: converted })
    else value = add(value, multiply(converted, weights[at]!))
  })
  return value && { value, held }
}

/** Follows a sum or count through the approved facts of a customer, in order of time. */
function follow(
  rates: Rates,
  rule: Rule,
  condition: Qualify,
  facts: Fact[],
  currency: string,
): Reach {
  const min = parse(condition.min!)
  const { customer, signupDay } = facts[0]!
  const days = condition.within_days
  const named = facts.flatMap((fact) => {
    if (!isReal(fact) || fact.state !== 'approved' || fact.isRefused) return []
    if (!isLateEnough(rule, fact) || !inWindow(fact, days)) return []
    const added = addedBy(rates, condition, fact, currency)
    return added ? [{ fact, ...added }] : []
  })
  const usedUntil = (instant: number) =>
    new Set(named.filter(({ fact }) => fact.instant <= instant).map(({ fact }) => fact))
  const blocked = named.find(({ held }) => held.length > 0)?.held ?? []
  if (condition.at === 'end') {
    const total = named.reduce((so, { value }) => add(so, value), ZERO)
    const isReached = blocked.length === 0 && compare(total, min) >= 0
    const end = { day: addDays(signupDay, days!), instant: customer.signup + days! * DAY_MS }
    return {
      reached: isReached ? end : null,
      used: new Set(named.map(({ fact }) => fact)),
      blocked,
    }
  }
  if (!isPositive(min))
    return {
      reached: { day: signupDay, instant: customer.signup },
      used: usedUntil(customer.signup),
      blocked: [],
    }
  let total = ZERO
  for (const instant of new Set(named.map(({ fact }) => fact.instant))) {
    const together = named.filter(({ fact }) => fact.instant === instant)
    if (together.some(({ held }) => held.length > 0)) break
    total = together.reduce((so, { value }) => add(so, value), total)
    if (compare(total, min) >= 0)
      return {
        reached: { day: together[0]!.fact.day, instant },
        used: usedUntil(instant),
        blocked: [],
      }
  }
  return { reached: null, used: new Set(), blocked }
}

/** Returns when the conditions of `qualify.customer` first held: at the signup, or when a later day began. */
function firstHeld(condition: Qualify, { customer, signupDay, startOf }: Fact): Reach {
  const at = customer.fields.findIndex(({ values }) => holds(condition.customer, values))
  const none: Reach = { reached: null, used: new Set(), blocked: [] }
  if (at < 0) return none
  const from = at === 0 ? null : customer.fields[at]!.from
  const instant = from === null ? customer.signup : startOf(from)
  return { ...none, reached: { day: from ?? signupDay, instant } }
}

/** Returns whether `void_by` takes the trigger back, or the first fact that cannot be evaluated. */
function voided(
  rates: Rates,
  rule: Rule,
  trigger: Fact,
  amount: Rational,
  facts: Fact[],
  currency: string,
): boolean | Held[] {
  const { terms, within_days: days } = rule.void_by!
  const isAfter = (fact: Fact) =>
    fact !== trigger &&
    (fact.wholeDay
      ? fact.day >= trigger.day && fact.day <= addDays(trigger.day, days)
      : inTime(fact, trigger) > 0 && fact.instant < trigger.instant + days * DAY_MS)
  let total = ZERO
  for (const fact of facts) {
    if (!isReal(fact) || fact.state !== 'approved' || !isAfter(fact)) continue
    const added = addedBy(rates, { sum: terms }, fact, currency)
    if (!added) continue
    if (added.held.length > 0) return added.held
    total = add(total, added.value)
  }
  return compare(total, amount) >= 0
}

type Candidate = Pick<Attempt, 'candidate' | 'amount' | 'waits'>

/** Returns the customer's candidate: the earliest fact that the trigger, `when` and `min` accept. */
function findCandidate(rates: Rates, version: Version, rule: Rule, facts: Fact[]): Candidate {
  const none: Candidate = { candidate: null, amount: null, waits: [] }
  const { min } = rule.trigger!
  for (const fact of facts) {
    const isReversed = fact.state === 'reversed'
    if (!isReal(fact) || (fact.state !== 'approved' && !isReversed)) continue
    if (!isLateEnough(rule, fact)) continue
    if (!isTrigger(rule, fact) || !holdsFor(rule.when, fact) || !withinMonths(rule, fact)) continue
    if (isReversed && rule.requalify) continue
    if (isReversed && min === undefined) return none
    if (!needsAmount(rule)) return { candidate: fact, amount: null, waits: [] }
    const amount = convert(rates, fact, triggerField(rule), version.currency)
    if (typeof amount === 'string') {
      const waits = [{ fact, field: triggerField(rule), reason: amount }]
      return { candidate: fact, amount: null, waits }
    }
    if (min !== undefined && compare(amount, parse(min)) < 0) continue
    if (isReversed) return none
    const isVoid =
      rule.void_by !== undefined && voided(rates, rule, fact, amount, facts, version.currency)
    if (typeof isVoid !== 'boolean') return { candidate: fact, amount, waits: isVoid }
    if (!isVoid) return { candidate: fact, amount, waits: [] }
    if (!rule.requalify) return none
  }
  return none
}

/** Returns where a customer stands under a `once` rule; `facts` are all of theirs, in order of time. */
export function attempt(rates: Rates, version: Version, rule: Rule, facts: Fact[]): Attempt {
  return {
    version,
    rule,
    ...findCandidate(rates, version, rule, facts),
    conditions: (rule.qualify ?? []).map((condition) =>
      condition.customer
        ? firstHeld(condition, facts[0]!)
        : follow(rates, rule, condition, facts, version.currency),
    ),
  }
}

/** Returns whether the candidate can earn under the version of an attempt. */
const canEarn = ({ candidate, version }: Attempt) =>
  candidate?.state === 'approved' && candidate.reason === null && candidate.version === version

/** Returns what makes the candidate wait: its own amount, `void_by`, else each sum's first fact. */
export function waitsFor(one: Attempt): Held[] {
  if (!canEarn(one)) return []
  return one.waits.length > 0 ? one.waits : one.conditions.flatMap(({ blocked }) => blocked)
}

/** Returns when a customer qualified by an attempt, or null. */
function qualification(one: Attempt): Qualified | null {
  const { candidate: trigger, waits, conditions } = one
  if (!trigger || !canEarn(one) || waits.length > 0) return null
  const reached = [trigger, ...conditions.map((condition) => condition.reached)]
  if (!reached.every((each) => each !== null)) return null
  return {
    attempt: one,
    trigger,
    day: reached.map(({ day }) => day).reduce((a, b) => (a > b ? a : b)),
    instant: Math.max(...reached.map(({ instant }) => instant)),
    used: new Set([trigger, ...conditions.flatMap(({ used }) => [...used])]),
  }
}

/** Orders qualifications by day, trigger instant and trigger id. */
export const inOrderOfQualification = (a: Qualified, b: Qualified) =>
  compareText(a.day, b.day) || inTime(a.trigger, b.trigger)

/** Returns the qualification of a customer by a rule id that counts: the earliest. */
export const earliest = (attempts: Attempt[]): Qualified | null =>
  attempts
    .flatMap((one) => qualification(one) ?? [])
    .sort(inOrderOfQualification)
    .at(0) ?? null
