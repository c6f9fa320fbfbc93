import type { Explanation, Step, StepOf } from '../why/steps.ts'
import type { Settlement } from './account.ts'
import type { PlanResult } from './account-input.ts'
import { dayText, endingWithin, type Period } from './calendar.ts'
import { type Context, fieldsOn, type PeriodContext } from './context.ts'
import { convertAmount, type RateLookup } from './convert.ts'
import {
  add,
  compare,
  type Decimal,
  decimal,
  fixedText,
  fromFact,
  integer,
  isPositive,
  multiply,
  ONE,
  plainText,
  sum,
  ZERO,
} from './decimal.ts'
import { type Customer, compareText, type Fact, type FactResource } from './facts.ts'
import { type Line, lineJson } from './line.ts'
import type { OnceState } from './once.ts'
import { paysFor } from './override.ts'
import type { Conditions, OnceRule, OverrideRule, Qualification, Term, UnitRule } from './plan.ts'
import { conditionText, countedWords, customerWords, isMoney, measuredWords } from './plan-words.ts'
import { type Progress, termAmount } from './qualify.ts'
import { ratio, ratioText } from './ratio.ts'
import { counted, figure, isRecord, listed, money } from './reasons.ts'
import type { CompiledOverride, CompiledQualification } from './rules.ts'
import {
  type CustomerTallies,
  type CustomerTally,
  convertGroup,
  type Group,
  type PeriodTallies,
  type RuleTally,
} from './tally.ts'
import type { CompiledBase, CompiledTerm } from './terms.ts'
import { dayWords, instantWords, periodWords } from './time-words.ts'
import type { MeasureStep, Trace } from './trace.ts'

/** Everything besides facts that an explanation reads. */
export interface ExplainContext extends PeriodContext {
  readonly settlement: Settlement
  /** Returns the day on which the rate that applies was published; null if it is not known. */
  readonly rateDay?: (currency: string, day: number) => number | null
}

/** A line of the statement of an affiliate and plan. */
export interface ExplainedLine {
  readonly result: PlanResult
  readonly line: Line
}

/** The steps that lead to what the rate applies to. */
type FactsStep = StepOf<'facts'>
type ConversionStep = StepOf<'conversion'>
type BaseStep = StepOf<'base'>
type UnitsStep = StepOf<'units'>
type TriggerStep = StepOf<'trigger'>
type QualificationStep = StepOf<'qualification'>
type SourcesStep = StepOf<'sources'>
type FundedStep = StepOf<'funded'>

type Counted = FactsStep['terms'][number]['currencies'][number]
type UsedRate = FundedStep['rates'][number]
type DayConversion = ConversionStep['days'][number]
type CountedRecord = TriggerStep['record']
type MetCondition = QualificationStep['conditions'][number]
type SourceLines = SourcesStep['sources'][number]

/** Amounts of a term in one currency, on one day or on all. Integers are of 10^-12. */
interface TermSum {
  readonly term: CompiledTerm
  readonly currency: string
  readonly day: number
  /** Records that the term counts. */
  count: number
  /** Sums of a customer and product that were converted apart. */
  sums: number
  units: bigint
  converted: bigint
  alone: bigint
  aloneConverted: bigint
}

/** What the facts of one line come to, collected customer by customer. */
export interface LineFacts {
  /** The base that the facts make, without `fixed` terms. */
  base: Decimal
  units: Decimal
  /** Different records. */
  records: number
  customers: number
  /** By term, then by day and currency. */
  readonly sums: Map<CompiledTerm, Map<string, TermSum>>
}

/** What one customer adds to a line. */
export interface Part {
  readonly customer_id: string
  readonly base: Decimal
  readonly units: Decimal
  readonly records: number
  readonly sums: readonly TermSum[]
}

/** Returns the facts of a line without any. */
export const noLineFacts = (): LineFacts => ({
  base: ZERO,
  units: ZERO,
  records: 0,
  customers: 0,
  sums: new Map(),
})

/** Returns the tally that a line was made from; null if its rule sums no facts of its own. */
export function tallyOfLine(
  tallies: PeriodTallies,
  affiliate: string,
  { rule, scope }: Pick<Line, 'rule' | 'scope'>,
): RuleTally | null {
  const own = tallies.get(affiliate)
  if (rule.kind !== 'override') return own?.ownRules.get(rule) ?? null
  return own?.overrides.get(rule)?.get(scopeName(scope)) ?? null
}

/** Returns the customer, product or affiliate of a scope. */
export const scopeName = (scope: string): string => scope.slice(scope.indexOf(':') + 1)

/** Returns what one customer adds to a line; null if nothing. */
export function partOf(
  line: Pick<Line, 'rule' | 'version' | 'scope'>,
  target: RuleTally | null,
  customer: string,
  tallies: CustomerTallies,
  rates: RateLookup,
): Part | null {
  const one = target && tallies.get(target)
  if (!one || one.records === 0 || !isInScope(line, customer)) return null
  const groups = one.groups.filter((group) => isGroupInScope(line, group))
  if (groups.length === 0 && one.groups.length > 0) return null
  const sums = groups.map((group) => sumOf(group, line.version.currency, rates))
  const base = sums.reduce(
    (total, { converted, aloneConverted, term }) =>
      add(total, multiply(fromFact(converted + aloneConverted), term.weight)),
    ZERO,
  )
  const records = recordsOf(line, one, groups)
  return { customer_id: customer, base, units: fromFact(one.units), records, sums }
}

const isInScope = ({ rule, scope }: Pick<Line, 'rule' | 'scope'>, customer: string): boolean =>
  rule.kind !== 'share' || rule.per !== 'customer' || scopeName(scope) === customer

const isGroupInScope = ({ rule, scope }: Pick<Line, 'rule' | 'scope'>, group: Group): boolean =>
  rule.kind !== 'share' || rule.per !== 'product' || scopeName(scope) === (group.product ?? '')

/** The different records; of a product those that its groups count. */
function recordsOf(
  line: Pick<Line, 'rule' | 'scope'>,
  { counted, records }: CustomerTally,
  groups: readonly Group[],
): number {
  if (line.rule.kind !== 'share' || line.rule.per !== 'product') return records
  const product = groups[0]?.product ?? ''
  let found = 0
  for (const fact of counted) if ((fact.product ?? '') === product) found += fact.count
  return found
}

function sumOf(group: Group, currency: string, rates: RateLookup): TermSum {
  const { term, day, count, units, alone, aloneConverted } = group
  return {
    term,
    day,
    count,
    units,
    alone,
    aloneConverted,
    currency: group.currency,
    sums: units === 0n ? 0 : 1,
    converted: convertGroup(group, currency, rates) - aloneConverted,
  }
}

/** Adds what a customer adds to a line. */
export function addPart(facts: LineFacts, part: Part): void {
  facts.base = add(facts.base, part.base)
  facts.units = add(facts.units, part.units)
  facts.records += part.records
  facts.customers += 1
  for (const sum of part.sums) addSum(facts.sums, sum)
}

function addSum(sums: LineFacts['sums'], sum: TermSum): void {
  const ofTerm = sums.get(sum.term) ?? new Map<string, TermSum>()
  sums.set(sum.term, ofTerm)
  const key = `${sum.day}|${sum.currency}`
  const known = ofTerm.get(key)
  if (known === undefined) {
    ofTerm.set(key, { ...sum })
    return
  }
  known.count += sum.count
  known.sums += sum.sums
  known.units += sum.units
  known.converted += sum.converted
  known.alone += sum.alone
  known.aloneConverted += sum.aloneConverted
}

/** Writes an explanation in sentences, one or more a step, each on a line of its own. */
export function explanationText(explanation: Explanation): string {
  const { affiliate_id, plan, period, currency, line } = explanation
  const title = `Rule ${line.rule} (version ${line.version}) of the plan ${plan} for the affiliate ${affiliate_id} in ${periodWords(period)}${scopeText(line.scope)}`
  const digits = minorDigits(line.amount)
  const sentences = explanation.steps.flatMap((step) => sentencesOf(step, explanation, digits))
  const { stored } = explanation
  const changed = stored
    ? [
        `The statement of ${instantWords(stored.computed_at)} says ${figure(stored.amount, digits)} ${currency}. Records have changed since; this is the line as it is computed now.`,
        '',
      ]
    : []
  const approved = closedSentences(explanation, digits)
  return `${[title, '', ...changed, ...approved, ...sentences].join('\n')}\n`
}

/** Writes whose facts a line counts: `, for the customer C-1`; nothing if it counts those of all customers. */
const scopeText = (scope: string): string =>
  scope === 'affiliate' ? '' : `, for the ${scope.replace(':', ' ')}`

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
  const adjusted = closed.adjustments.map(
    (one) => `${money(one.amount)} in ${periodWords(one.period)}`,
  )
  return [
    `${periodWords(period)} is closed. ${approvedText}`,
    ...(adjusted.length > 0 ? [`Adjustments of this line: ${listed(adjusted)}.`] : []),
    steps.length > 0
      ? 'This is the line as it is computed now.'
      : 'Its records have changed since, so there are no steps to show.',
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
        `So the base is ${money(step.before)} − ${money(step.paid_back)} + ${money(step.fenced)} = ${money(step.base)}.`,
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
        : [`${figure(step.before)} ${currency} is rounded to ${money(step.after)} (half to even).`]
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

type MoneyText = (text: string) => string

const isNothing = (text: string): boolean => /^-?[0.]+$/.test(text)

const cutText = (capped: string, after: string, money: MoneyText): string =>
  isNothing(capped) ? 'not reduced' : `reduced by ${money(capped)} to ${money(after)}`

function bounds(min: string | null, max: string | null, money: MoneyText): string {
  if (min !== null && max !== null) return `${money(min)} to ${money(max)}`
  return min === null ? `at most ${money(max ?? '0')}` : `at least ${money(min)}`
}

function measureSentences(step: MeasureStep, rateText: MoneyText): string[] {
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

function rateSentences(
  { parts, rate_is, amount, rounded }: StepOf<'rate'>,
  money: MoneyText,
): string[] {
  const approximately = rounded ? 'about ' : ''
  const each = parts.map(({ quantity, rate, amount: paid }) =>
    rate_is === 'percent'
      ? `${figure(rate)} % of ${money(quantity)} is ${approximately}${money(paid)}.`
      : quantity === '1'
        ? `The rule pays ${money(rate)}.`
        : `${figure(quantity)} × ${money(rate)} is ${approximately}${money(paid)}.`,
  )
  return parts.length > 1 ? [...each, `Together that is ${approximately}${money(amount)}.`] : each
}

function negativeSentences(step: StepOf<'negative'>, money: MoneyText): string[] {
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

function advanceSentences(step: StepOf<'advance'>, money: MoneyText): string[] {
  const { recoups, before, paid_once, deficit_in, deficit_out, after } = step
  const first = `The rule ${recoups} paid ${money(paid_once)} in this period. Advance still to recover from earlier periods: ${money(deficit_in)}.`
  const sum = `${money(before)} − ${money(paid_once)} − ${money(deficit_in)}`
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
        `The customer qualified on ${dayWords(step.qualified_on)}.`,
      ]
    case 'sources':
      return sourcesSentences(step, currency)
    case 'funded':
      return fundedSentences(step, currency, affiliate)
    case 'floor':
      return [`${money(step.before, currency)} is negative and counts as 0.`]
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
      const isOne = isRecord(term) && 'activity' in term && term.activity !== 'lots_traded'
      return currencies.length === 0
        ? `No ${countedWords(term)} ${isOne ? 'is' : 'are'} counted.`
        : `${capital(countedWords(term))}${whenText(term)} ${isOne ? 'sums' : 'sum'} to ${amounts(currencies)}.`
    }),
  ]
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const isLimited = (term: unknown): term is { readonly when: Conditions } =>
  isRecord(term) && isRecord(term.when)

const whenText = (term: unknown): string => (isLimited(term) ? conditionText(term.when) : '')

const rateText = ({ currency, rate, day }: UsedRate): string =>
  `1 EUR = ${figure(rate)} ${currency}${day === null ? '' : ` (${dayWords(day)})`}`

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
        `On ${dayWords(one.day)}, ${money(one.amount, one.currency)}${rates} is ${money(one.converted, currency)}${apart}.`,
      )
    }
    const usd = one.by_amount_usd
    if (usd !== null) {
      sentences.push(
        `On ${dayWords(one.day)}, ${money(usd.amount, one.currency)} is ${money(usd.converted, currency)} by the records' own amounts in USD.`,
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
      ? `${termName(term, times)} ${money(value, currency)}.`
      : `${termName(term, times)} ${figure(times)} × ${money(sum, currency)} = ${money(value, currency)}.`,
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
  return `The ${'fixed' in term ? 'fixed amount of the period' : `term of ${countedWords(term)}`} adds`
}

function unitsSentences({ unit, records, customers, units, each, quantity }: UnitsStep): string[] {
  const source =
    isRecord(unit) && 'once' in unit
      ? `${counted(records, 'line')} of the rule ${unit.once} of the sub-affiliate.`
      : `${figure(units)} units come from ${counted(records, 'record')} of ${counted(customers, 'customer')} (${countedWords(unit)}).`
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
  return `${recordName(resource, id)} of ${dayWords(day)}${sent}${counts}`
}

/** Names a record; trading activity by its instrument, which is in its key. */
function recordName(resource: FactResource, id: string): string {
  if (resource === 'trading-activity') return `trading activity on ${id.split('|').at(-2) ?? ''}`
  const name = resource === 'activities' ? id.replace(/^e /, '') : id
  return `${NOUNS[resource]} ${name}`
}

const NOUNS = {
  customers: 'signup',
  transactions: 'transaction',
  activities: 'event',
} as const

function triggerSentences({ record, min }: TriggerStep, currency: string): string[] {
  const least = min === null ? '' : `, minimum ${money(min, currency)}`
  return [`Qualifying record: ${recordText(record, currency)}${least}.`]
}

function conditionSentence(one: MetCondition, currency: string): string {
  const { condition, met_on, min } = one
  if (one.reached === null || 'customer' in condition) {
    const customer = 'customer' in condition ? customerWords(condition.customer) : ''
    return `From ${dayWords(met_on)} on, the customer ${customer}.`
  }
  const what = capital(measuredWords(condition))
  const records = one.records_total === 0 ? '' : `, by ${counted(one.records_total, 'record')}`
  const few = one.records.length <= 5 ? one.records : []
  const list =
    few.length === 0 ? '' : ` (${few.map((record) => recordText(record, currency)).join('; ')})`
  const amount = (value: string) =>
    'sum' in condition && isMoney(condition.sum) ? money(value, currency) : figure(value)
  const [reached, needed] = [one.reached, min ?? '0'].map(amount)
  return `${what}: ${reached} (needed ${needed}), reached on ${dayWords(met_on)}${records}${list}.`
}

function sourcesSentences(step: SourcesStep, currency: string): string[] {
  const lines = step.sources.map(
    (one) =>
      `${capital(counted(one.lines, 'line'))} of the affiliate ${step.affiliate_id} by the rule ${one.rule} (version ${one.version}) of the plan ${one.plan} in ${periodWords(one.period)} ${one.lines === 1 ? 'sums' : 'sum'} to ${money(one.amount, one.currency)}.`,
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
    `The affiliate ${step.affiliate_id} earns ${money(step.amount, step.currency)} by this override of the plan ${step.plan} in ${periodWords(step.period)}. The affiliate ${payer} pays it.`,
    ...(rates === ''
      ? []
      : [`${money(step.amount, step.currency)}${rates} is ${money(step.converted, currency)}.`]),
  ]
}

const text = (units: bigint): string => plainText(fromFact(units))

/** Returns the rates by which one currency converts to another on a day. */
function usedRates(
  { rates, rateDay }: ExplainContext,
  from: string,
  to: string,
  day: number,
): UsedRate[] {
  if (from === to) return []
  return [from, to].flatMap((currency) => {
    const rate = rates(currency, day)
    if (typeof rate === 'string') return []
    const published = rateDay?.(currency, day) ?? null
    return [
      { currency, rate: plainText(rate), day: published === null ? null : dayText(published) },
    ]
  })
}

/** Returns the steps from the facts of a base to the base, `fixed` terms included if they apply. */
function explainBase(
  context: ExplainContext,
  base: CompiledBase,
  facts: LineFacts,
  currency: string,
  withFixed: boolean,
): [FactsStep, ConversionStep, BaseStep] {
  return [
    factsStep(base, facts),
    conversionStep(context, base, facts, currency),
    baseStep(base, facts, withFixed),
  ]
}

const sumsOf = ({ sums }: LineFacts, term: CompiledTerm): TermSum[] => [
  ...(sums.get(term)?.values() ?? []),
]

function factsStep({ terms }: CompiledBase, facts: LineFacts): FactsStep {
  return {
    step: 'facts',
    records: facts.records,
    customers: facts.customers,
    terms: terms.map((term) => ({
      term: term.source,
      currencies: countedByCurrency(sumsOf(facts, term)),
    })),
  }
}

function countedByCurrency(sums: readonly TermSum[]): Counted[] {
  return [...Map.groupBy(sums, ({ currency }) => currency)]
    .sort(([a], [b]) => compareText(a, b))
    .map(([currency, group]) => ({
      currency,
      count: group.reduce((total, { count }) => total + count, 0),
      amount: text(group.reduce((total, { units, alone }) => total + units + alone, 0n)),
    }))
}

function conversionStep(
  context: ExplainContext,
  { terms }: CompiledBase,
  facts: LineFacts,
  to: string,
): ConversionStep {
  const days = terms.flatMap((term, position) =>
    sumsOf(facts, term)
      .filter(({ currency }) => currency !== to)
      .sort((a, b) => a.day - b.day || compareText(a.currency, b.currency))
      .map((sum) => dayConversion(context, position, sum, to)),
  )
  return { step: 'conversion', currency: to, days }
}

function dayConversion(
  context: ExplainContext,
  term: number,
  { day, currency, sums, units, converted, alone, aloneConverted }: TermSum,
  to: string,
): DayConversion {
  const byUsd = alone !== 0n || aloneConverted !== 0n
  return {
    term,
    day: dayText(day),
    currency,
    rates: sums === 0 ? [] : usedRates(context, currency, to, day),
    sums,
    amount: text(units),
    converted: text(converted),
    by_amount_usd: byUsd ? { amount: text(alone), converted: text(aloneConverted) } : null,
  }
}

/** Returns the base term by term, as the plan has them: `of` takes a part of the values before it. */
function baseStep({ terms, source }: CompiledBase, facts: LineFacts, withFixed: boolean): BaseStep {
  const compiled = [...terms]
  const values: { term: Term; sum: Decimal; times: Decimal; value: Decimal }[] = []
  for (const term of source) {
    const own = 'fixed' in term || 'of' in term ? undefined : compiled.shift()
    const found = own ? convertedSum(sumsOf(facts, own)) : derived(term, values, withFixed)
    const times = own?.times ?? ('of' in term ? decimal(term.times) : ONE)
    values.push({ term, sum: found, times, value: multiply(found, times) })
  }
  return {
    step: 'base',
    terms: values.map(({ term, ...figures }) => ({
      term,
      sum: plainText(figures.sum),
      times: plainText(figures.times),
      value: plainText(figures.value),
    })),
    base: plainText(sum(values.map(({ value }) => value))),
  }
}

/** Returns the amount of each period, or the sum of the earlier terms that a term names. */
function derived(
  term: Term,
  values: readonly { term: Term; value: Decimal }[],
  withFixed: boolean,
): Decimal {
  if ('fixed' in term) return withFixed ? decimal(term.fixed) : ZERO
  if (!('of' in term)) return ZERO
  const named = values.filter(
    (one) => one.term.name !== undefined && term.of.includes(one.term.name),
  )
  return sum(named.map(({ value }) => value))
}

function convertedSum(sums: readonly TermSum[]): Decimal {
  let total = 0n
  for (const { converted, aloneConverted } of sums) total += converted + aloneConverted
  return fromFact(total)
}

/** Returns the step of a unit: what was counted, divided by `each`. */
const unitsStep = (
  unit: unknown,
  { units, records, customers }: Pick<LineFacts, 'units' | 'records' | 'customers'>,
  each: Decimal,
): UnitsStep => ({
  step: 'units',
  records,
  customers,
  unit,
  units: plainText(units),
  each: plainText(each),
  quantity: ratioText(ratio(units, each)),
})

/** Returns what facts come to with `fixed` terms. */
export const baseOf = (
  { base }: LineFacts,
  { fixed }: CompiledBase,
  withFixed: boolean,
): Decimal => (withFixed ? add(base, fixed) : base)

/** A line of another statement that a line is made from. */
export interface SourceLine {
  readonly line: Line
  readonly plan: string
  readonly period: Period
  /** All lines of its statement. */
  readonly statement: readonly Line[]
}

/** Returns the lines of an affiliate in statements whose period ends within the context's. */
function linesOf({ settlement, period }: ExplainContext, affiliate: string): SourceLine[] {
  return endingWithin(period).flatMap((one) =>
    settlement
      .settle(one)
      .filter((result) => result.affiliate === affiliate)
      .flatMap(({ plan, lines: statement }) =>
        statement.map((line) => ({ line, plan: plan.plan, period: one, statement })),
      ),
  )
}

const usedLines = (context: ExplainContext, line: Line, rule: CompiledOverride): SourceLine[] =>
  linesOf(context, scopeName(line.scope)).filter((one) => paysFor(rule, one.line))

/**
 * Returns the lines of other statements that a line is made from, with their affiliate; null if it is
 * made from facts.
 */
export function sourceLines(
  context: ExplainContext,
  explained: ExplainedLine,
): { affiliate: string; lines: SourceLine[] } | null {
  const { line } = explained
  const { rule } = line
  if (rule.kind !== 'override') return null
  const affiliate = scopeName(line.scope)
  if (isFunded(line)) {
    const paid = paidLine(context, explained)
    return { affiliate, lines: paid ? [paid] : [] }
  }
  if ('lines' in rule.of || 'once' in rule.of) {
    return { affiliate, lines: usedLines(context, line, rule) }
  }
  return null
}

/** Returns the lines below that an override pays for, and what they sum to before a floor. */
function sourcesStep(
  context: ExplainContext,
  line: Line,
  rule: CompiledOverride,
): { step: SourcesStep; sum: Decimal } {
  const below = scopeName(line.scope)
  const used = usedLines(context, line, rule)
  const { rates, period } = context
  const { currency: to } = line.version
  const isCount = 'once' in rule.of
  let sum: Decimal = isCount ? integer(used.length) : ZERO
  const groups = isCount ? new Map() : byCurrency(used)
  const conversions = [...groups].map(([currency, amount]) => {
    const converted = convertAmount(amount, currency, to, period.last, rates)
    if (typeof converted !== 'string') sum = add(sum, converted)
    return {
      currency,
      amount: plainText(amount),
      rates: usedRates(context, currency, to, period.last),
      converted: typeof converted === 'string' ? null : plainText(converted),
      reason: typeof converted === 'string' ? converted : null,
    }
  })
  const step: SourcesStep = {
    step: 'sources',
    affiliate_id: below,
    sources: groupLines(used),
    conversions,
    sum: plainText(sum),
  }
  return { step, sum }
}

function byCurrency(used: readonly SourceLine[]): Map<string, Decimal> {
  const sums = new Map<string, Decimal>()
  for (const { line } of used) {
    const { currency } = line.version
    sums.set(currency, add(sums.get(currency) ?? ZERO, line.amount))
  }
  return sums
}

/** Adds up lines by statement, rule and version. */
function groupLines(used: readonly SourceLine[]): SourceLines[] {
  const groups = Map.groupBy(used, ({ plan, period, line }) =>
    JSON.stringify([plan, period.id, line.rule.id, line.version.version]),
  )
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const { plan, period, line } = first
    return [
      {
        plan,
        period: period.id,
        rule: line.rule.id,
        version: line.version.version,
        currency: line.version.currency,
        lines: group.length,
        amount: plainText(group.reduce((total, one) => add(total, one.line.amount), ZERO)),
      },
    ]
  })
}

/** Returns the upline's line that this line pays for; nothing if it is not found. */
function fundedSteps(context: ExplainContext, explained: ExplainedLine): FundedStep[] {
  const { result, line } = explained
  const paid = paidLine(context, explained)
  if (paid === undefined) return []
  const { currency, plan } = paid.line.version
  const to = result.plan.first.currency
  const { last, id } = paid.period
  const converted = convertAmount(paid.line.amount, currency, to, last, context.rates)
  return [
    {
      step: 'funded',
      affiliate_id: scopeName(line.scope),
      plan,
      period: id,
      amount: plainText(paid.line.amount),
      currency,
      rates: usedRates(context, currency, to, last),
      converted: typeof converted === 'string' ? '0' : plainText(converted),
    },
  ]
}

/** Returns the upline's line of that period for this affiliate. */
const paidLine = (
  context: ExplainContext,
  { result, line }: ExplainedLine,
): SourceLine | undefined =>
  linesOf(context, scopeName(line.scope)).find(
    (one) =>
      one.period.id === line.funds &&
      one.line.rule === line.rule &&
      !isFunded(one.line) &&
      scopeName(one.line.scope) === result.affiliate,
  )

/** Whether an upline's override booked the line. */
export const isFunded = ({ funds }: Line): boolean => funds !== null

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
function triggerStep({ rule, amount }: OnceState, trigger: Fact): TriggerStep {
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
function qualificationStep(
  context: Context,
  customer: Customer,
  state: OnceState,
): QualificationStep {
  const { rule, progress, version } = state
  const source = version.source.rules.find(({ id }) => id === rule.id) as OnceRule | undefined
  const conditions = rule.qualify.flatMap((qualification, index): MetCondition[] => {
    const [met, condition] = [progress[index], source?.qualify?.[index]]
    if (met?.status !== 'met' || !condition) return []
    return [metCondition(context, customer, state, qualification, met, condition)]
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
  condition: Qualification,
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

/**
 * Explains a line, step by step.
 *
 * @param facts What its facts come to; empty for lines without facts of their own.
 * @param customer The customer of a `once` line; else null.
 */
export function explainLine(
  context: ExplainContext,
  explained: ExplainedLine,
  facts: LineFacts,
  customer: Customer | null,
): Explanation {
  const { result, line } = explained
  const { affiliate, plan } = result
  const { currency, digits } = plan.first
  return {
    affiliate_id: affiliate,
    plan: plan.plan,
    period: context.period.id,
    currency,
    line: lineJson(line, digits),
    steps: [
      ...(isFunded(line)
        ? fundedLine(context, explained)
        : joined(
            quantitySteps(context, line, facts, customer),
            context.settlement.trace(result, line),
          )),
      { step: 'amount', amount: fixedText(line.amount, digits) },
    ],
  }
}

/** Appends what settling did to what it did it to. A negative sum of units is raised before it is divided. */
function joined(steps: readonly Step[], trace: Trace): Step[] {
  const floor = trace.filter(({ step }) => step === 'floor')
  const [first] = steps
  return first?.step === 'units'
    ? [...floor, ...steps, ...trace.slice(floor.length)]
    : [...steps, ...trace]
}

/** Returns the steps up to the base or the units to which settling applies its modifiers. */
function quantitySteps(
  context: ExplainContext,
  line: Line,
  facts: LineFacts,
  customer: Customer | null,
): Step[] {
  const { rule, version } = line
  switch (rule.kind) {
    case 'once':
      return onceSteps(context, line, customer)
    case 'share':
      return explainBase(context, rule.base, facts, version.currency, rule.per === 'affiliate')
    case 'unit':
      return [unitsStep(sourceRule<UnitRule>(line)?.unit, facts, rule.each)]
    case 'override':
      return overrideSteps(context, line, rule, facts)
  }
}

function onceSteps(context: ExplainContext, { once }: Line, customer: Customer | null): Step[] {
  const trigger = once?.trigger
  if (!once || !trigger) return []
  return [
    triggerStep(once, trigger),
    ...triggerConversion(context, once, trigger),
    ...(customer ? [qualificationStep(context, customer, once)] : []),
  ]
}

function sourceRule<R>({ version, rule }: Line): R | undefined {
  return version.source.rules.find(({ id }) => id === rule.id) as R | undefined
}

function overrideSteps(
  context: ExplainContext,
  line: Line,
  rule: CompiledOverride,
  facts: LineFacts,
): Step[] {
  const { of, each } = rule
  if ('base' in of) return explainBase(context, of.base, facts, line.version.currency, true)
  if ('unit' in of) {
    const source = sourceRule<OverrideRule>(line)?.of
    const unit = source && 'unit' in source ? source.unit : undefined
    return [unitsStep(unit, { ...facts, units: line.units ?? facts.units }, each)]
  }
  const { step, sum } = sourcesStep(context, line, rule)
  if ('lines' in of) return [step]
  const count = Number(sum.units)
  return [step, unitsStep(of, { units: sum, records: count, customers: count }, each)]
}

/** Returns the steps of a line that an affiliate funds for an upline. */
function fundedLine(context: ExplainContext, explained: ExplainedLine): Step[] {
  const { line, result } = explained
  const { digits } = result.plan.first
  return fundedSteps(context, explained).flatMap((step) => [
    step,
    {
      step: 'rounding',
      digits,
      before: negatedText(step.converted),
      after: fixedText(line.amount, digits),
    },
  ])
}

const negatedText = (text: string): string =>
  text === '0' ? text : text.startsWith('-') ? text.slice(1) : `-${text}`
