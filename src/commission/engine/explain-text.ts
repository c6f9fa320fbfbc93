import { compare, decimal } from './decimal.ts'
import type {
  AdvanceStep,
  Explanation,
  MeasureStep,
  NegativeStep,
  RateStep,
  Step,
} from './explanation.ts'
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

/** Writes an explanation in sentences, one or more a step, each on a line of its own. */
export function explanationText(explanation: Explanation): string {
  const { affiliate_id, plan, period, currency, line } = explanation
  const scope = line.scope === 'affiliate' ? '' : `, ${line.scope}`
  const title = `Rule ${line.rule} (version ${line.version}) of the plan ${plan} for the affiliate ${affiliate_id} in ${period}${scope}`
  const digits = minorDigits(line.amount)
  const sentences = explanation.steps.flatMap((step) => sentencesOf(step, explanation, digits))
  const { stored } = explanation
  const changed = stored
    ? [
        `The statement of ${stored.computed_at} says ${figure(stored.amount, digits)} ${currency}. Records have changed since; this is the line as it is computed now.`,
        '',
      ]
    : []
  const approved = closedSentences(explanation, digits)
  return `${[title, '', ...changed, ...approved, ...sentences].join('\n')}\n`
}

/** Writes what was approved of a line, if its period is closed. */
function closedSentences(
  { closed, currency, period, steps }: Explanation,
  digits: number,
): string[] {
  if (!closed) return []
  const money = (text: string): string => `${figure(text, digits)} ${currency}`
  const approvedText =
    closed.amount === null
      ? 'No statement with this line was approved.'
      : `The approved statement says ${money(closed.amount)}.`
  const adjusted = closed.adjustments.map((one) => `${money(one.amount)} in ${one.period}`)
  return [
    `The period ${period} is closed. ${approvedText}`,
    ...(adjusted.length > 0 ? [`Adjustments of this line: ${listed(adjusted)}.`] : []),
    steps.length > 0
      ? 'This is the line as it is computed now.'
      : 'As the records are now, this line no longer exists.',
    '',
  ]
}

/** The minor digits with which the line's amount is written. */
const minorDigits = (amount: string): number => amount.split('.')[1]?.length ?? 0

function sentencesOf(
  step: Step,
  { affiliate_id, currency, steps }: Explanation,
  digits: number,
): string[] {
  const money = (text: string): string => `${figure(text, digits)} ${currency}`
  switch (step.step) {
    case 'fence':
      return [
        `The base of the affiliate is ${money(step.before)}. High-roller losses ring-fenced in this period: ${money(step.fenced)}. Recovered from customers with earlier ring-fenced losses: ${money(step.paid_back)}.`,
        `So the base is ${figure(step.before)} − ${figure(step.paid_back)} + ${figure(step.fenced)} = ${money(step.base)}.`,
      ]
    case 'measure':
      return measureSentences(step, (rate) =>
        steps.some((one) => 'rate_is' in one && one.rate_is === 'percent')
          ? `${figure(rate)} %`
          : money(rate),
      )
    case 'rate':
      return rateSentences(step, money)
    case 'clamp':
      return [
        `The rule pays ${bounds(step.min_amount, step.max_amount, money)} for each customer: ${money(step.after)}.`,
      ]
    case 'rounding':
      return step.before === step.after || figure(step.before, digits) === figure(step.after)
        ? []
        : [`${figure(step.before)} is rounded to ${money(step.after)} (half to even).`]
    case 'max_per_customer':
      return [
        `The rule pays at most ${money(step.max)} for a customer: ${cutText(step.capped, step.after, money)}.`,
      ]
    case 'negative':
      return negativeSentences(step, money)
    case 'max_count':
      return [
        `The rule pays for at most ${counted(step.max_count, 'customer')} in a period. This is number ${step.position}: ${cutText(step.capped, step.after, money)}.`,
      ]
    case 'max':
      return [
        `The lines of the rule are limited to ${money(step.max)} in all: ${cutText(step.capped, step.after, money)}.`,
      ]
    case 'advance':
      return advanceSentences(step, money)
    case 'amount':
      return [`The line pays ${money(step.amount)}.`]
    default:
      return factSentences(step, currency, affiliate_id)
  }
}

type Money = (text: string) => string

const isNothing = (text: string): boolean => /^-?[0.]+$/.test(text)

const cutText = (capped: string, after: string, money: Money): string =>
  isNothing(capped) ? 'not reduced' : `reduced by ${money(capped)} to ${money(after)}`

function bounds(min: string | null, max: string | null, money: Money): string {
  if (min !== null && max !== null) return `${money(min)} to ${money(max)}`
  return min === null ? `at most ${money(max ?? '0')}` : `at least ${money(min)}`
}

function measureSentences(step: MeasureStep, rateText: Money): string[] {
  const { earlier, own, network, measure, steps, mode, covered } = step
  const added = [
    isNothing(earlier) ? '' : `${figure(earlier)} of earlier periods`,
    `${figure(own)} of this period`,
    isNothing(network) ? '' : `${figure(network)} of the affiliates below`,
  ].filter((text) => text !== '')
  const sum = added.length === 1 ? '' : ` (${added.join(' + ')})`
  const volume = decimal(measure)
  const reached = steps.findLast(({ from }) => compare(volume, decimal(from)) >= 0) ?? steps[0]
  const tiers = steps.map(
    (one) => `${rateText(one.rate)} from ${figure(one.from)}${one === reached ? ' (reached)' : ''}`,
  )
  const first = `Tier measure: ${figure(measure)}${sum}. Tiers: ${tiers.join(', ')}.`
  if (mode === 'whole') return [first]
  const before = isNothing(covered ?? '0')
    ? ''
    : ` Earlier lines and periods used ${figure(covered ?? '0')}.`
  return [`${first} Each part is paid at its own step.${before}`]
}

function rateSentences({ parts, rate_is, amount, rounded }: RateStep, money: Money): string[] {
  const approximately = rounded ? 'about ' : ''
  const each = parts.map(({ quantity, rate, amount: paid }) =>
    rate_is === 'percent'
      ? `${figure(rate)} % of ${figure(quantity)} is ${approximately}${figure(paid)}.`
      : quantity === '1'
        ? `The rule pays ${money(rate)}.`
        : `${figure(quantity)} × ${figure(rate)} is ${approximately}${figure(paid)}.`,
  )
  return parts.length > 1 ? [...each, `Together that is ${approximately}${money(amount)}.`] : each
}

function negativeSentences(step: NegativeStep, money: Money): string[] {
  if (step.negative === 'zero') {
    return step.before === step.after
      ? []
      : [`${money(step.before)} is negative and is not paid: the rule writes negative amounts off.`]
  }
  const { before, carried_in, carried_out, after } = step
  if (isNothing(carried_in) && isNothing(carried_out)) return []
  const balance = `${money(before)} with ${money(carried_in)} carried in from earlier periods`
  return isNothing(carried_out)
    ? [`${balance} is ${money(after)}.`]
    : [`${balance} is ${money(carried_out)}, which is carried to the next period. Nothing is paid.`]
}

function advanceSentences(step: AdvanceStep, money: Money): string[] {
  const { recoups, before, paid_once, deficit_in, deficit_out, after } = step
  const first = `The rule ${recoups} paid ${money(paid_once)} in this period. Advance still to recover from earlier periods: ${money(deficit_in)}.`
  const sum = `${figure(before)} − ${figure(paid_once)} − ${figure(deficit_in)}`
  return isNothing(deficit_out)
    ? [first, `${sum} is ${money(after)}.`]
    : [
        first,
        `${sum} is −${money(deficit_out)}: nothing is paid, and ${money(deficit_out)} is still to recover.`,
      ]
}

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
