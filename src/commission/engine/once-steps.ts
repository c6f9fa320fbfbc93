import { dayText } from '../../platform/money/calendar.ts'
import {
  type Decimal,
  fromFact,
  isPositive,
  plainText,
  sum,
  ZERO,
} from '../../platform/money/decimal.ts'
import type { StepOf } from '../shapes/steps.ts'
import type { Account } from './account.ts'
import { conversionOf } from './convert.ts'
import type { Customer, Fact } from './facts.ts'
import type { OnceState } from './once.ts'
import { addedBy } from './qualify.ts'

// The steps of a `once` line: the record that triggered it, and how the customer qualified.

type UsedRate = StepOf<'trigger'>['rates'][number]
type CountedRecord = StepOf<'trigger'>['record']
type QualificationStep = StepOf<'qualification'>
type MetCondition = QualificationStep['conditions'][number]

/** Returns the rates by which one currency converts to another on a day. That of the euro is 1, and left out. */
export function usedRates(
  { rates, rateDay }: Account,
  from: string,
  to: string,
  day: number,
): UsedRate[] {
  if (from === to) return []
  return [from, to].flatMap((currency) => {
    const rate = rates(currency, day)
    if (currency === 'EUR' || typeof rate === 'string') return []
    const published = rateDay?.(currency, day) ?? null
    return [
      { currency, rate: plainText(rate), day: published === null ? null : dayText(published) },
    ]
  })
}

/** The maximum number of records that a condition lists. */
const LISTED_RECORDS = 10

/** Returns the instant as text; null for facts of whole days. */
export const instantText = ({ wholeDay, at }: Fact): string | null =>
  wholeDay ? null : new Date(at).toISOString()

const recordOf = (
  fact: Fact,
  field: string | null,
  currency: string | null,
  converted: Decimal | null,
): CountedRecord => {
  const amount = field === null ? undefined : fact.amounts.get(field)
  return {
    resource: fact.resource,
    id: fact.id,
    day: dayText(fact.day),
    at: instantText(fact),
    amount: amount === undefined ? null : plainText(fromFact(amount)),
    currency: amount === undefined ? null : currency,
    converted: converted && plainText(converted),
  }
}

/** Returns the step of the record that triggered a `once` rule. */
export function triggerStep(
  account: Account,
  { rule, amount, version, trigger }: OnceState,
): StepOf<'trigger'> | null {
  const { trigger: kind } = rule
  if (trigger === null) return null
  const currency = kind?.currencyOf(trigger) ?? null
  const to = version.currency
  const isByRate = kind !== null && conversionOf(trigger, kind, to, account.rates) === 'rate'
  return {
    step: 'trigger',
    record: recordOf(trigger, kind?.field ?? null, currency, amount),
    rates: isByRate && amount && currency ? usedRates(account, currency, to, trigger.day) : [],
    min: rule.min && plainText(rule.min),
  }
}

/** Returns the conditions of `qualify` as they were met. */
export function qualificationStep(
  account: Account,
  customer: Customer,
  state: OnceState,
): QualificationStep {
  return {
    step: 'qualification',
    conditions: state.rule.qualify.flatMap(
      (_, index) => metCondition(account, customer, state, index) ?? [],
    ),
    qualified_on: dayText(state.day),
    qualified_at: new Date(state.at).toISOString(),
  }
}

function metCondition(
  account: Account,
  customer: Customer,
  { rule, version, progress }: OnceState,
  index: number,
): MetCondition | null {
  const [qualification, found] = [rule.qualify[index], progress[index]]
  const condition = rule.source.qualify?.[index]
  if (found?.status !== 'met' || !qualification || !condition) return null
  const { at, day, used } = found
  const met = { condition, met_on: dayText(day), met_at: new Date(at).toISOString() }
  if (qualification.kind === 'customer') {
    return { ...met, reached: null, min: null, records: [], records_total: 0 }
  }
  // A `min` of 0 or less is reached at the signup, before any record.
  const isMetAtSignup = !(qualification.atEnd || isPositive(qualification.min))
  if (isMetAtSignup) {
    const min = plainText(qualification.min)
    return { ...met, reached: '0', min, records: [], records_total: 0 }
  }
  const counting = { customer, qualification, currency: version.currency }
  const amounts = used.map((fact) => {
    const added = addedBy(account, counting, fact)
    return added === null || Array.isArray(added) ? ZERO : added
  })
  const records = used.slice(0, LISTED_RECORDS).map((fact, index) => {
    const term = qualification.terms.find((one) => one.names(fact))
    const isSum = qualification.kind === 'sum'
    const field = isSum && term ? term.field : null
    const amount = isSum ? (amounts[index] ?? null) : null
    return recordOf(fact, field, term?.currencyOf(fact) ?? null, amount)
  })
  return {
    ...met,
    reached: plainText(sum(amounts)),
    min: plainText(qualification.min),
    records,
    records_total: used.length,
  }
}
