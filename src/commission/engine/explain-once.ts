import { dayText } from './calendar.ts'
import type { Context } from './context.ts'
import { fieldsOn } from './context.ts'
import { add, type Decimal, fromFact, integer, isPositive, plainText, ZERO } from './decimal.ts'
import { usedRates } from './explain-base.ts'
import type { ExplainContext } from './explain-input.ts'
import type {
  ConversionStep,
  CountedRecord,
  MetCondition,
  QualificationStep,
  TriggerStep,
} from './explanation-facts.ts'
import type { Customer, Fact } from './facts.ts'
import type { OnceState } from './once.ts'
import type { OnceRule } from './plan.ts'
import { type Progress, termAmount } from './qualify.ts'
import type { CompiledQualification } from './rules.ts'

/** The maximum number of records that a condition lists. */
const LISTED_RECORDS = 100

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

/** Returns the record that triggered a `once` rule. */
export function triggerStep({ rule, amount }: OnceState, trigger: Fact): TriggerStep {
  const { trigger: kind } = rule
  const currency = kind?.currencyOf(trigger) ?? null
  return {
    step: 'trigger',
    record: recordOf(trigger, kind?.field ?? null, currency, amount),
    min: rule.min && plainText(rule.min),
  }
}

/** Returns how the trigger's amount was converted; nothing if it was not. */
export function triggerConversion(
  context: ExplainContext,
  { rule, amount, version }: OnceState,
  trigger: Fact,
): ConversionStep[] {
  const { trigger: kind } = rule
  const currency = kind?.currencyOf(trigger) ?? null
  if (kind === null || currency === null || amount === null) return []
  if (currency === version.currency) return []
  const rates = usedRates(context, currency, version.currency, trigger.day)
  const sent = plainText(fromFact(trigger.amounts.get(kind.field) ?? 0n))
  const converted = plainText(amount)
  const usd = kind.field === 'amount_currency' ? trigger.amounts.get('amount_usd') : undefined
  const byUsd = usd !== undefined && (version.currency === 'USD' || rates.length < 2)
  return [
    {
      step: 'conversion',
      currency: version.currency,
      days: [
        {
          term: 0,
          day: dayText(trigger.day),
          currency,
          rates: byUsd ? [] : rates,
          sums: byUsd ? 0 : 1,
          amount: byUsd ? '0' : sent,
          converted: byUsd ? '0' : converted,
          by_amount_usd: byUsd ? { amount: sent, converted } : null,
        },
      ],
    },
  ]
}

/** Returns the conditions of `qualify` as they were met. */
export function qualificationStep(
  context: Context,
  customer: Customer,
  state: OnceState,
): QualificationStep {
  const { rule, progress, version } = state
  const source = version.source.rules.find(({ id }) => id === rule.id) as OnceRule | undefined
  const conditions = rule.qualify.flatMap((qualification, index): MetCondition[] => {
    const met = progress[index]
    if (met?.status !== 'met') return []
    return [metCondition(context, customer, state, qualification, met, source?.qualify?.[index])]
  })
  return {
    step: 'qualification',
    conditions,
    qualified_on: dayText(state.day),
    qualified_at: new Date(state.at).toISOString(),
  }
}

function metCondition(
  context: Context,
  customer: Customer,
  { version }: OnceState,
  qualification: CompiledQualification,
  { at, day, used }: Extract<Progress, { status: 'met' }>,
  condition: unknown,
): MetCondition {
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
  const amounts = used.map((fact) =>
    amountOf(context, customer, qualification, fact, version.currency),
  )
  const records = used.slice(0, LISTED_RECORDS).map((fact, index) => {
    const term = qualification.terms.find((one) => one.names(fact))
    const isSum = qualification.kind === 'sum'
    const field = isSum && term ? term.field : null
    const amount = isSum ? (amounts[index] ?? null) : null
    return recordOf(fact, field, term?.currencyOf(fact) ?? null, amount)
  })
  return {
    ...met,
    reached: plainText(amounts.reduce<Decimal>((total, one) => add(total, one), ZERO)),
    min: plainText(qualification.min),
    records,
    records_total: used.length,
  }
}

/** Returns what a record added to a sum, or that it was counted. */
function amountOf(
  context: Context,
  customer: Customer,
  { kind, terms }: Exclude<CompiledQualification, { kind: 'customer' }>,
  fact: Fact,
  currency: string,
): Decimal {
  let total = ZERO
  for (const term of terms) {
    if (!term.names(fact) || term.when(fieldsOn(customer, fact.day), fact) !== null) continue
    const amount =
      kind === 'count' ? integer(fact.count) : termAmount(context, term, fact, currency)
    if (!('fact' in amount)) total = add(total, amount)
  }
  return total
}
