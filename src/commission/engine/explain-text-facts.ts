import type { Step } from './explanation.ts'
import type {
  BaseStep,
  ConversionStep,
  Counted,
  CountedRecord,
  FactsStep,
  FundedStep,
  MetCondition,
  SourcesStep,
  TriggerStep,
  UnitsStep,
  UsedRate,
} from './explanation-facts.ts'
import {
  conditionsText,
  counted,
  figure,
  isRecord,
  kindText,
  listed,
  money,
  qualificationText,
} from './sentences.ts'

/** Writes the steps that lead to a base, to units or to a qualification; `affiliate` has the line. */
export function factSentences(step: Step, currency: string, affiliate: string): string[] {
  switch (step.step) {
    case 'facts':
      return factsSentences(step)
    case 'conversion':
      return conversionSentences(step)
    case 'base':
      return baseSentences(step, currency)
    case 'units':
      return unitsSentences(step)
    case 'trigger':
      return triggerSentences(step, currency)
    case 'qualification':
      return [
        ...step.conditions.map((one) => conditionSentence(one, currency)),
        `The customer qualified on ${step.qualified_on}.`,
      ]
    case 'sources':
      return sourcesSentences(step, currency)
    case 'funded':
      return fundedSentences(step, currency, affiliate)
    case 'floor':
      return [`${figure(step.before)} is negative and counts as 0.`]
    default:
      return []
  }
}

function factsSentences({ terms, records, customers }: FactsStep): string[] {
  if (records === 0) return ['No record of the period is counted.']
  const amounts = (currencies: readonly Counted[]): string =>
    listed(
      currencies.map(
        ({ currency, count, amount }) => `${money(amount, currency)} (${counted(count, 'record')})`,
      ),
    )
  return [
    `The base counts ${counted(records, 'record')} of ${counted(customers, 'customer')}.`,
    ...terms.map(({ term, currencies }) => {
      const isOne = isRecord(term) && 'activity' in term
      return currencies.length === 0
        ? `No ${kindText(term)} ${isOne ? 'is' : 'are'} counted.`
        : `${capital(kindText(term))}${whenText(term)} ${isOne ? 'sums' : 'sum'} to ${amounts(currencies)}.`
    }),
  ]
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const whenText = (term: unknown): string =>
  isRecord(term) && term.when ? ` (${conditionsText(term.when)})` : ''

const rateText = ({ currency, rate, day }: UsedRate): string =>
  `1 EUR = ${figure(rate)} ${currency}${day === null ? '' : ` (${day})`}`

/** Writes the rates of a conversion; that of the euro itself is 1. */
function ratesText(rates: readonly UsedRate[]): string {
  const written = rates.filter(({ currency }) => currency !== 'EUR').map(rateText)
  return written.length === 0 ? '' : ` at ${written.join(' and ')}`
}

/** The maximum number of days whose conversion is written in sentences; the JSON lists them all. */
const WRITTEN_DAYS = 400

function conversionSentences({ days, currency }: ConversionStep): string[] {
  const written = days.slice(0, WRITTEN_DAYS).flatMap((one) => {
    const apart = one.sums > 1 ? `, in ${one.sums} separate conversions` : ''
    const rates = ratesText(one.rates)
    const sentences: string[] = []
    if (one.sums > 0) {
      sentences.push(
        `On ${one.day}, ${money(one.amount, one.currency)}${rates} is ${money(one.converted, currency)}${apart}.`,
      )
    }
    const usd = one.by_amount_usd
    if (usd !== null) {
      sentences.push(
        `On ${one.day}, ${money(usd.amount, one.currency)} is ${money(usd.converted, currency)} by the records' own amounts in USD.`,
      )
    }
    return sentences
  })
  const rest = days.length - WRITTEN_DAYS
  return rest > 0
    ? [...written, `The JSON of this explanation lists ${counted(rest, 'more conversion')}.`]
    : written
}

function baseSentences({ terms, base }: BaseStep, currency: string): string[] {
  const values = terms.map(({ term, sum, times, value }) =>
    times === '1'
      ? `${termName(term, times)} ${figure(value)}.`
      : `${termName(term, times)} ${figure(times)} × ${figure(sum)} = ${figure(value)}.`,
  )
  const isPlain = terms.length === 1 && terms[0]?.times === '1'
  if (isPlain || terms.every(({ value }) => value === '0'))
    return [`The base is ${money(base, currency)}.`]
  return [...values, `The base is ${money(base, currency)}.`]
}

/** Returns the beginning of the sentence of a term. */
function termName(term: unknown, times: string): string {
  if (!isRecord(term)) return 'The term adds'
  if (typeof term.name === 'string') return `The term ${term.name} adds`
  if (Array.isArray(term.of))
    return `${times.startsWith('-') ? 'Deduction on' : 'Part of'} ${listed(term.of)}:`
  return `The ${'fixed' in term ? 'fixed amount of the period' : `term of ${kindText(term)}`} adds`
}

function unitsSentences({ unit, records, customers, units, each, quantity }: UnitsStep): string[] {
  const source =
    isRecord(unit) && 'once' in unit
      ? `${counted(records, 'line')} of the rule ${unit.once} of the sub-affiliate.`
      : `${figure(units)} units come from ${counted(records, 'record')} of ${counted(customers, 'customer')} (${kindText(unit)}).`
  if (each === '1') return [source]
  return [source, `${figure(units)} ÷ ${figure(each)} is ${figure(quantity)}.`]
}

const recordText = (
  { resource, id, day, amount, currency, converted }: CountedRecord,
  to: string,
): string => {
  const sent =
    amount === null ? '' : `, ${currency === null ? figure(amount) : money(amount, currency)}`
  const counts = converted === null || converted === amount ? '' : ` = ${money(converted, to)}`
  return `${resource} ${id} of ${day}${sent}${counts}`
}

function triggerSentences({ record, min }: TriggerStep, currency: string): string[] {
  const least = min === null ? '' : `, minimum ${money(min, currency)}`
  return [`Qualifying record: ${recordText(record, currency)}${least}.`]
}

function conditionSentence(one: MetCondition, currency: string): string {
  const { condition, met_on, min } = one
  if (one.reached === null)
    return `The customer met ${conditionsText(Object(condition).customer)} from ${met_on} on.`
  const what = capital(qualificationText(condition))
  const records = one.records_total === 0 ? '' : `, by ${counted(one.records_total, 'record')}`
  const few = one.records.length <= 5 ? one.records : []
  const list =
    few.length === 0 ? '' : ` (${few.map((record) => recordText(record, currency)).join('; ')})`
  const isSum = 'sum' in Object(condition)
  const reached = isSum ? money(one.reached, currency) : figure(one.reached)
  return `${what}: ${reached} (needed ${figure(min ?? '0')}), reached on ${met_on}${records}${list}.`
}

function sourcesSentences(step: SourcesStep, currency: string): string[] {
  const lines = step.sources.map(
    (one) =>
      `${capital(counted(one.lines, 'line'))} of the affiliate ${step.affiliate_id} by the rule ${one.rule} (version ${one.version}) of the plan ${one.plan} in ${one.period} ${one.lines === 1 ? 'sums' : 'sum'} to ${money(one.amount, one.currency)}.`,
  )
  const conversions = step.conversions
    .filter(({ rates, converted }) => rates.length > 0 || converted === null)
    .map(({ currency: own, amount, rates, converted }) =>
      converted === null
        ? `${money(amount, own)} is not paid yet: no exchange rate.`
        : `${money(amount, own)}${ratesText(rates)} is ${money(converted, currency)}.`,
    )
  return step.conversions.length === 0
    ? lines
    : [...lines, ...conversions, `Together that is ${money(step.sum, currency)}.`]
}

function fundedSentences(step: FundedStep, currency: string, payer: string): string[] {
  const rates = ratesText(step.rates)
  return [
    `The affiliate ${step.affiliate_id} earns ${money(step.amount, step.currency)} by this override of the plan ${step.plan} in ${step.period}. The affiliate ${payer} pays it.`,
    ...(rates === ''
      ? []
      : [`${money(step.amount, step.currency)}${rates} is ${money(step.converted, currency)}.`]),
  ]
}
