import { DAY_MS } from '../../platform/durations.ts'
import { addMonths } from '../../platform/money/calendar.ts'
import {
  add,
  compare,
  type Decimal,
  integer,
  multiply,
  ZERO,
} from '../../platform/money/decimal.ts'
import type { HoldReason } from '../shapes/reasons.ts'
import type { Account } from './account.ts'
import { convertFact } from './convert.ts'
import type { Customer, Fact } from './facts.ts'
import { fieldsOn, isRefused } from './owners.ts'
import type { OnceOfVersion } from './plans-in-force.ts'
import type { CompiledQualification, CompiledRule } from './rules.ts'
import type { CompiledTerm, CompiledUnit } from './terms.ts'

/** A fact that cannot be evaluated because one of its amounts cannot be converted. */
export interface Blocker {
  readonly fact: Fact
  readonly field: string
  readonly currency: string | null
  readonly reason: HoldReason
}

/** The state of one condition of `qualify`. */
export type Progress =
  | {
      readonly status: 'met'
      /** When it was met: an instant, and its day. */
      readonly at: number
      readonly day: number
      readonly used: readonly Fact[]
    }
  | { readonly status: 'blocked'; readonly blockers: readonly Blocker[] }
  | {
      readonly status: 'open'
      /** The name of the failing customer condition, if it is one. */
      readonly condition: string | null
      /** The sum or count so far, and what it must reach; null for customer conditions. */
      readonly reached: Decimal | null
      readonly min: Decimal | null
      /** The last day of its window; null if it has none. */
      readonly until: number | null
    }

/** Whether the fact lies before signup + n × 24 h, or as a whole day up to the signup day + n. */
export const withinDays = (customer: Customer, fact: Fact, days: number): boolean =>
  fact.wholeDay ? fact.day <= customer.signupDay + days : fact.at < customer.signup + days * DAY_MS

/**
 * Whether the fact lies at or after the signup less `grace` (milliseconds). Whole days count from the
 * day of that instant on (§16.27).
 */
export function sinceSignup(
  { dayStart }: Account,
  { signup, signupDay }: Customer,
  { wholeDay, day, at }: Fact,
  grace: number,
): boolean {
  if (!wholeDay) return at >= signup - grace
  return day >= signupDay || dayStart(day + 1) > signup - grace
}

/** Whether the fact's day lies before the signup day + n months. */
const withinMonths = (customer: Customer, day: number, months: number | null): boolean =>
  months === null || day < addMonths(customer.signupDay, months)

/**
 * Returns the condition that leaves a fact out: of a rule, if it binds the fact, or of a term; `months` if the fact is too
 * late for the rule; null if none does. Whatever looks at facts asks here.
 */
export function excludedBy(
  customer: Customer,
  rule: Pick<CompiledRule, 'when' | 'months'> | null,
  term: CompiledTerm | CompiledUnit | null,
  fact: Fact,
): string | null {
  const fields = fieldsOn(customer, fact.day)
  const ofTerm = term !== null && 'when' in term ? term : null
  const condition = rule?.when(fields, fact) ?? ofTerm?.when(fields, fact) ?? null
  if (condition !== null || rule === null) return condition
  return withinMonths(customer, fact.day, rule.months) ? null : 'months'
}

/** Whether a term names a fact, and its conditions hold. */
export const takes = (customer: Customer, term: CompiledTerm, fact: Fact): boolean =>
  term.names(fact) && excludedBy(customer, null, term, fact) === null

/** Evaluates one condition of `qualify` by the facts of a customer. */
export const evaluateQualification = (
  account: Account,
  customer: Customer,
  of: OnceOfVersion,
  qualification: CompiledQualification,
): Progress =>
  qualification.kind === 'customer'
    ? evaluateFields(account, customer, qualification.conditions)
    : evaluateSum(account, customer, of, qualification)

/**
 * Finds the first day on which the conditions held. If they held from the beginning, it is the
 * signup day.
 */
function evaluateFields(
  account: Account,
  customer: Customer,
  conditions: (fields: ReturnType<typeof fieldsOn>, fact: null) => string | null,
): Progress {
  let condition: string | null = null
  for (const { from } of customer.fields.length > 0 ? customer.fields : [{ from: null }]) {
    condition = conditions(fieldsOn(customer, from ?? -Infinity), null)
    if (condition !== null) continue
    if (from === null)
      return { status: 'met', at: customer.signup, day: customer.signupDay, used: [] }
    return { status: 'met', at: account.dayStart(from), day: from, used: [] }
  }
  return { status: 'open', condition, reached: null, min: null, until: null }
}

type SumQualification = Exclude<CompiledQualification, { kind: 'customer' }>

/** Sums or counts in order of time; the facts of one instant count together (§16.13). */
function evaluateSum(
  account: Account,
  customer: Customer,
  { version: { currency }, rule: { grace } }: OnceOfVersion,
  qualification: SumQualification,
): Progress {
  const counting = { customer, qualification, currency }
  const { min, withinDays: days, atEnd } = qualification
  const window = days === null ? null : windowEnd(customer, days)
  const used: Fact[] = []
  let blockers: readonly Blocker[] | null = null
  let total = ZERO
  const reached = (): boolean => compare(total, min) >= 0
  const atSignup = !atEnd && reached()
  const isInWindow = (fact: Fact): boolean =>
    fact.state === 'approved' &&
    (days === null || withinDays(customer, fact, days)) &&
    sinceSignup(account, customer, fact, grace) &&
    !isRefused(customer, fact.day)
  let isChanged = false
  for (const [i, fact] of customer.facts.entries()) {
    if (atSignup && fact.at > customer.signup) break
    const amount = isInWindow(fact) ? addedBy(account, counting, fact) : null
    if (amount !== null) {
      used.push(fact)
      isChanged = true
      if (Array.isArray(amount)) blockers ??= amount
      else total = add(total, amount)
    }
    // The facts of one instant count together.
    if (!isChanged || customer.facts[i + 1]?.at === fact.at) continue
    isChanged = false
    const { day } = used.at(-1) ?? fact
    if (!atEnd && !atSignup && blockers === null && reached()) {
      return { status: 'met', at: fact.at, day, used }
    }
  }
  if (atSignup) return { status: 'met', at: customer.signup, day: customer.signupDay, used }
  if (blockers !== null) return { status: 'blocked', blockers }
  if (atEnd && window !== null && reached()) return { status: 'met', ...window, used }
  const until = window?.day ?? null
  return { status: 'open', condition: null, reached: total, min, until }
}

const windowEnd = ({ signup, signupDay }: Customer, days: number): { at: number; day: number } => ({
  at: signup + days * DAY_MS,
  day: signupDay + days,
})

/** A condition that sums or counts facts of a customer, in a currency. */
interface Counting {
  readonly customer: Customer
  readonly qualification: SumQualification
  readonly currency: string
}

/** Returns what a fact adds: null if no term names it, or those of its amounts without a rate. */
export function addedBy(
  account: Account,
  { customer, qualification: { kind, terms }, currency }: Counting,
  fact: Fact,
): Decimal | Blocker[] | null {
  const blockers: Blocker[] = []
  let total: Decimal | null = null
  for (const term of terms) {
    if (!takes(customer, term, fact)) continue
    const amount =
      kind === 'count' ? integer(fact.count) : termAmount(account, term, fact, currency)
    if ('fact' in amount) blockers.push(amount)
    else total = add(total ?? ZERO, amount)
  }
  return blockers.length > 0 ? blockers : total
}

/** Converts a fact's amount under a term and multiplies it with `times`. */
export function termAmount(
  { rates }: Account,
  term: CompiledTerm,
  fact: Fact,
  currency: string,
): Decimal | Blocker {
  const converted = convertFact(fact, term, currency, rates)
  if (typeof converted === 'string') {
    return { fact, field: term.field, currency: term.currencyOf(fact), reason: converted }
  }
  return multiply(converted, term.times)
}
