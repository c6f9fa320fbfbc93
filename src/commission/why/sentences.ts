import { isSome } from '../../platform/money/decimal.ts'
import type { FactOutcome } from '../engine/records.ts'
import { ALL_MODIFIERS, type ModifierName } from '../plans/modifiers/order.ts'
import {
  conditionSentences,
  isMoney,
  kindWords,
  limitedWords,
  measureOf,
  qualificationWords,
  triggerWords,
  unitMeasure,
} from '../plans/plan-words.ts'
import type { PlanTerms, Qualification, Term, Trigger, Unit } from '../plans/types.ts'
import { parseScope } from '../run/line-groups.ts'
import type { AdjustmentExplanation } from '../shapes/explanations.ts'
import type { Explanation, Step, StepOf } from '../shapes/steps.ts'
import { capital } from '../words/english.ts'
import type { MessageName, Words } from '../words/words.ts'
import { causeEvidence, correctedLine, correctionSentence } from './cause-words.ts'
import { escapeStrings } from './escape-strings.ts'

// Why a line pays what it pays, and what became of a customer: the same sentences for the firm, the affiliate and a
// print, in the language of the reader. What an affiliate must not see is not in what they are written from.

/** What `GET …/lines/{line_id}/explain` returns. */
export type Explained = Explanation | AdjustmentExplanation

/** Writes the explanation of a line or of a correction, a sentence each. */
export function sentencesIn(explanation: Explained, words: Words): string[] {
  if ('of' in explanation) return adjustmentSentences(explanation, words)
  const { currency, corrections } = explanation
  const amounts = corrections.map(({ amount }) => words.money(amount, currency))
  return [
    ...lineSentences(explanation, explanation, words),
    ...(amounts.length > 0 ? [words.text('why.corrected', { amounts: words.and(amounts) })] : []),
  ]
}

/**
 * Writes the explanation of a line or of a correction as a text, a sentence on each line.
 *
 * @param withIds Whether it also lists the ids of records and deliveries, as the firm reads it.
 */
export function textOf(explained: Explained, words: Words, withIds = true): string {
  const explanation = escapeStrings(explained)
  const { affiliate_id, plan, period, ...rest } = explanation
  const line = 'of' in rest ? rest.now?.line : rest.line
  const about = [
    ...(line ? [words.text('why.rule', { rule: line.rule, version: line.version })] : []),
    plan,
    affiliate_id,
    words.period(period),
    line ? parseScope(line.scope).id : '',
  ]
  const causes = 'of' in rest ? rest.causes : []
  return [
    about.filter(Boolean).join(', '),
    '',
    ...sentencesIn(explanation, words),
    ...(withIds ? recordsIn(explanation) : []).map(({ resource, id }) => `- ${resource} ${id}`),
    ...(withIds ? causes : []).map((cause) => `- ${causeEvidence(cause, words)}`),
    '',
  ].join('\n')
}

/** Returns the records that an explanation names. */
export function recordsIn(explanation: Explained): StepOf<'trigger'>['record'][] {
  const steps = 'of' in explanation ? (explanation.now?.steps ?? []) : explanation.steps
  const found = steps.flatMap((step) => {
    if (step.step === 'trigger') return [step.record]
    return step.step === 'qualification' ? step.conditions.flatMap((one) => one.records) : []
  })
  return [...new Map(found.map((one) => [JSON.stringify([one.resource, one.id]), one])).values()]
}

/** Writes how a line came about, a sentence each. */
function lineSentences(
  { line, steps }: Pick<Explanation, 'line' | 'steps'>,
  { currency, period }: Pick<Explanation, 'currency' | 'period'>,
  words: Words,
): string[] {
  const context: WordsContext = {
    words,
    currency,
    period: period.includes('W') ? 'week' : 'month',
    money: (amount) => words.money(amount, currency),
    rate: (rate) =>
      steps.some((one) => one.step === 'rate' && one.rate_is === 'percent')
        ? words.percent(rate)
        : words.money(rate, currency),
  }
  return [
    ...steps.flatMap((step) => {
      const write = EXPLAINED.get(step.step) ?? (WRITERS as Record<string, Write<Step>>)[step.step]
      return write?.(step, context) ?? []
    }),
    words.text('why.amount', { amount: context.money(line.amount) }),
  ]
}

/** Writes what a correction corrects and why, what was approved, and how the line comes about with it. */
function adjustmentSentences(explanation: AdjustmentExplanation, words: Words): string[] {
  const { of, now, amount, currency, approved } = explanation
  const { text } = words
  const money = (value: string) => words.money(value, currency)
  const earlier = approved.earlier.map((one) => money(one.amount))
  const restores = of.dropped_in
  return [
    correctionSentence(explanation, words),
    ...(now ? [correctedLine(now.line, money(amount), words)] : []),
    ...(approved.amount === null
      ? []
      : [
          text(restores ? 'why.wroteOff' : 'why.approved', {
            period: capital(words.period(restores ?? of.period)),
            amount: money(approved.amount),
          }),
        ]),
    ...(earlier.length > 0
      ? [
          text(restores ? 'why.restored' : 'why.earlier', {
            amounts: words.and(earlier),
            amount: money(approved.total),
          }),
        ]
      : []),
    ...(now
      ? [text('why.now'), ...lineSentences(now, { currency, period: of.period }, words)]
      : []),
    ...(now || of.line === null ? [] : [text('why.gone')]),
  ]
}

/** What the sentences of a step need besides it. */
interface WordsContext {
  readonly words: Words
  readonly money: (amount: string) => string
  /** Writes a rate of the rule: a percentage or an amount. */
  readonly rate: (rate: string) => string
  readonly currency: string
  readonly period: PlanTerms['period']
}

type Write<S> = (step: S, context: WordsContext) => string[]

/** The sentences of each step that is not one of a modifier. */
const WRITERS: { readonly [Name in Exclude<Step['step'], ModifierName>]: Write<StepOf<Name>> } = {
  base: baseSentences,
  units: unitsSentences,
  trigger: triggerSentences,
  qualification: qualifiedSentences,
  sources: sourcesSentences,
  funded: ({ period, amount, currency: own, converted, rates }, { words, money }) => [
    words.text('why.funded', {
      period: words.period(period),
      amount: `${words.money(amount, own)}${ratesText(rates, words)}`,
      converted: money(converted),
    }),
  ],
  floor: ({ before }, { words, money }) => [words.text('why.floor', { amount: money(before) })],
  measure: measureSentences,
  rate: rateSentences,
  rounding: ({ before, after }, { words, money }) =>
    money(before) === money(after)
      ? []
      : [words.text('why.rounded', { before: money(before), amount: money(after) })],
}

const EXPLAINED = new Map(
  ALL_MODIFIERS.map(({ name, explain }) => [name as string, explain as Write<Step>]),
)

type Counted = StepOf<'base'>['terms'][number]['currencies'][number]
type Rates = StepOf<'trigger'>['rates']

/** Writes rates in brackets: ` (1 EUR = 1.1 USD, 2 Oct 2026)`. */
const ratesText = (rates: Rates, { figure, day }: Words): string =>
  rates
    .map((one) => {
      const published = one.day === null ? '' : `, ${day(one.day)}`
      return ` (1 EUR = ${figure(one.rate)} ${one.currency}${published})`
    })
    .join('')

function baseSentences(step: StepOf<'base'>, context: WordsContext): string[] {
  const { words, money } = context
  const terms = step.terms.flatMap(({ term, currencies, sum, times, value }) => {
    const what = capital(termName(term as Term, context))
    return [
      ...(currencies.length > 0
        ? [
            words.text('why.value', {
              what,
              value: words.and(currencies.map((one) => countedText(one, words))),
            }),
          ]
        : []),
      ...currencies.flatMap((one) => conversionSentences(one, context)),
      ...termSentences(what, { sum, times, value }, currencies.length > 0, context),
    ]
  })
  return [
    step.records === 0 ? words.text('why.none') : countedWords(step, words),
    ...terms,
    words.text('why.base', { amount: money(step.base) }),
  ]
}

/** Writes what a term adds to the base, unless it is the sum of its records. */
function termSentences(
  what: string,
  { sum, times, value }: Pick<StepOf<'base'>['terms'][number], 'sum' | 'times' | 'value'>,
  isCounted: boolean,
  { words, money }: WordsContext,
): string[] {
  if (!isSome(value) || (times === '1' && isCounted)) return []
  if (times === '1') return [words.text('why.value', { what, value: money(value) })]
  return [
    words.text('why.term', {
      what,
      times: words.figure(times),
      sum: money(sum),
      value: money(value),
    }),
  ]
}

/** Names a term of a base. */
function termName(term: Term, { words, money, period }: WordsContext): string {
  if ('fixed' in term) return words.text(`term.fixed.${period}`, { amount: money(term.fixed) })
  if ('of' in term) return words.and(term.of)
  return limitedWords(kindWords(term, words), term.when, words)
}

const countedText = ({ amount, currency, count }: Counted, { text, money }: Words): string =>
  `${money(amount, currency)} (${text('count.records', { count })})`

/** Writes how the amounts of a term in one currency were converted. */
function conversionSentences(one: Counted, { words, money, currency }: WordsContext): string[] {
  if (one.currency === currency) return []
  const sent = (amount: string) => words.money(amount, one.currency)
  const { by_amount_usd: byUsd, days } = one
  const sentences = days.map(({ day, rates, sums, amount, converted }) => {
    const values = {
      day: words.day(day),
      converted: money(converted),
      count: sums,
      amount: `${sent(amount)}${ratesText(rates, words)}`,
    }
    return words.text(sums > 1 ? 'why.convertedApart' : 'why.converted', values)
  })
  if (byUsd) {
    const values = { amount: sent(byUsd.amount), converted: money(byUsd.converted) }
    sentences.push(words.text('why.byUsd', values))
  }
  const isSummed = days.length === 0 && one.converted !== byUsd?.converted
  return isSummed && isSome(one.amount)
    ? [
        ...sentences,
        words.text('why.summed', { amount: sent(one.amount), converted: money(one.converted) }),
      ]
    : sentences
}

function unitsSentences(step: StepOf<'units'>, { words }: WordsContext): string[] {
  const { text, figure } = words
  const { units, each, quantity } = step
  const unit = step.unit as Unit | { readonly once: string } | undefined
  return [
    // What an override counts are lines, which the step before names.
    ...(unit && 'once' in unit ? [] : [countedWords(step, words)]),
    ...(unit && !('once' in unit)
      ? [text('why.value', { what: capital(unitMeasure(unit, words)), value: figure(units) })]
      : []),
    ...(each === '1'
      ? []
      : [
          text('why.each', {
            units: figure(units),
            each: figure(each),
            quantity: figure(quantity),
          }),
        ]),
  ]
}

function triggerSentences(
  { record, rates, min }: StepOf<'trigger'>,
  { words, money, currency }: WordsContext,
): string[] {
  const { amount, currency: own, converted } = record
  const day = words.day(record.day)
  if (amount === null || own === null) return [words.text('why.trigger', { day })]
  const counted =
    converted === null || own === currency ? '' : `${ratesText(rates, words)} = ${money(converted)}`
  return [
    words.text('why.triggerAmount', { day, amount: `${words.money(amount, own)}${counted}` }),
    ...(min === null ? [] : [words.text('why.least', { amount: money(min) })]),
  ]
}

function qualifiedSentences(
  { conditions, qualified_on }: StepOf<'qualification'>,
  context: WordsContext,
): string[] {
  const { words, currency } = context
  return [
    ...conditions.map(({ condition, met_on, reached, records_total: count }) =>
      words.text(reached === null ? 'why.met' : 'why.metWith', {
        day: words.day(met_on),
        condition: clauseOf(qualificationWords(condition, context), words),
        reached: reached === null ? '' : reachedText(condition, reached, currency, words),
        records: words.text('count.records', { count }),
      }),
    ),
    words.text('why.qualified', { day: words.day(qualified_on) }),
  ]
}

function sourcesSentences(
  { sources, conversions, affiliate_id, sum }: StepOf<'sources'>,
  { words, money, currency }: WordsContext,
): string[] {
  const { text } = words
  return [
    ...sources.map(({ rule, period, lines, amount, currency: own }) =>
      text('why.source', {
        affiliate: affiliate_id,
        rule,
        period: words.period(period),
        lines: text('count.lines', { count: lines }),
        amount: words.money(amount, own),
      }),
    ),
    ...conversions.flatMap(({ amount, currency: own, rates, converted }) => {
      const sent = `${words.money(amount, own)}${ratesText(rates, words)}`
      if (converted === null) return [text('why.unconverted', { amount: sent })]
      return own === currency
        ? []
        : [text('why.rated', { amount: sent, converted: money(converted) })]
    }),
    ...(conversions.length > 0 ? [text('why.together', { amount: money(sum) })] : []),
  ]
}

function measureSentences(step: StepOf<'measure'>, { words, rate }: WordsContext): string[] {
  const { text, figure, and } = words
  const { earlier, own, network, measure, steps, covered } = step
  const tiers = steps.map((one) =>
    text('tier.step', { rate: rate(one.rate), from: figure(one.from) }),
  )
  const values = { earlier: figure(earlier), own: figure(own), network: figure(network) }
  return [
    text('why.measure', { figure: figure(measure), steps: and(tiers) }),
    ...(isSome(earlier) || isSome(network) ? [text('why.measured', values)] : []),
    ...(covered !== null && isSome(covered)
      ? [text('why.covered', { figure: figure(covered) })]
      : []),
  ]
}

function rateSentences(
  { rate_is, parts, amount: sum }: StepOf<'rate'>,
  { words, money }: WordsContext,
): string[] {
  const each = parts.map(({ quantity, rate, amount }) => {
    if (rate_is === 'percent') {
      const values = { rate: words.percent(rate), base: money(quantity), amount: money(amount) }
      return words.text('why.percent', values)
    }
    return quantity === '1'
      ? words.text('why.pays', { amount: money(rate) })
      : words.text('why.times', {
          quantity: words.figure(quantity),
          rate: money(rate),
          amount: money(amount),
        })
  })
  return parts.length > 1 ? [...each, words.text('why.together', { amount: money(sum) })] : each
}

const countedWords = (of: { records: number; customers: number }, { text }: Words): string =>
  text('why.counted', {
    records: text('count.records', { count: of.records }),
    customers: text('count.customers', { count: of.customers }),
  })

/** Writes a clause as what is missing, met or not met. */
const clauseOf = (what: string, { text }: Words): string => text('state.that', { what })

/** Writes what a condition has reached: an amount of money, or a number. */
const reachedText = (
  condition: Qualification,
  reached: string,
  currency: string,
  words: Words,
): string =>
  'sum' in condition && isMoney(condition.sum)
    ? words.money(reached, currency)
    : words.figure(reached)

/** What has become of a customer under a rule, as far as an affiliate sees it. */
export interface SeenState {
  readonly status: string
  readonly missing: readonly string[]
  readonly closed: { readonly window: string; readonly until: string } | null
  /** The last day on which the customer can still qualify. */
  readonly until: string | null
  readonly refused_by: string | null
  readonly conditions: readonly SeenCondition[]
  readonly before_signup?: readonly unknown[]
}

interface SeenCondition {
  readonly condition: Qualification
  readonly status: 'met' | 'open' | 'failed' | 'waiting'
  readonly reached?: string | null
  readonly min: string | null
  readonly until: string | null
}

/** A rule that pays once, as the sentences about a customer need it. */
export interface StateRule {
  readonly currency: string
  readonly period: 'month' | 'week'
  /** Absent if the rule is not in force any more. */
  readonly trigger?: Trigger | undefined
}

/** Writes what is missing of a condition, and until when: `lots traded: 3 of 5; until 12 Dec 2026`. */
function progressWords(one: SeenCondition, { currency, period }: StateRule, words: Words): string {
  const { condition, reached, min, until } = one
  const measured =
    'customer' in condition ? null : measureOf(condition, { currency, period, words })
  const what =
    measured !== null && reached != null && min !== null
      ? words.text('state.progress', {
          what: measured,
          reached: reachedText(condition, reached, currency, words),
          min: reachedText(condition, min, currency, words),
        })
      : clauseOf(qualificationWords(condition, { currency, period, words }), words)
  return untilWords(what, until, words)
}

const untilWords = (what: string, until: string | null, { text, day }: Words): string =>
  until === null ? what : text('state.until', { what, day: day(until) })

/** Writes why a customer has not qualified under a rule: what is missing and until when, or what was not met. */
export function stateWords(state: SeenState, rule: StateRule, words: Words): string[] {
  const early = (state.before_signup ?? []).length > 0 ? [words.text('state.early')] : []
  return [...outcomeWords(state, rule, words), ...early]
}

function outcomeWords(state: SeenState, rule: StateRule, words: Words): string[] {
  const { status, missing, closed, until, refused_by, conditions } = state
  const { text } = words
  const trigger = rule.trigger && clauseOf(triggerWords(rule.trigger, { ...rule, words }), words)
  const conditionAt = (name: string) => conditions[Number(name.replace('qualify/', ''))]
  if (status === 'waiting') {
    const open = missing.flatMap((name) => {
      if (name === 'rate') return [text('state.rate')]
      if (name === 'trigger') return trigger ? [untilWords(trigger, until, words)] : []
      const one = conditionAt(name)
      return one ? [progressWords(one, rule, words)] : []
    })
    return open.map((what) => text('state.missing', { what }))
  }
  if (status === 'failed' && closed) {
    const one = conditionAt(closed.window)
    const condition = one ? progressWords({ ...one, until: null }, rule, words) : trigger
    return [
      ...(condition ? [text('state.unmet', { condition })] : []),
      text('state.ended', { day: words.day(closed.until) }),
    ]
  }
  if (status !== 'refused' || refused_by === null) return []
  const one = refused_by.startsWith('qualify/') ? conditionAt(refused_by) : undefined
  if (one)
    return [
      text('state.unmet', {
        condition: clauseOf(qualificationWords(one.condition, { ...rule, words }), words),
      }),
    ]
  return [text(REFUSED.get(refused_by) ?? 'state.notFor')]
}

/**
 * Writes what a rule asks of a record that it does not count, as of a day: the conditions that leave it out, or what is
 * missing and until when. Returns nothing for other reasons, and if the rule is not known.
 */
export function outcomeSentences(
  { reason, rule: id, condition: name, reached, min, until }: FactOutcome,
  terms: PlanTerms | null | undefined,
  asOf: string,
  words: Words,
): string[] {
  const rule = terms?.rules.find((one) => one.id === id)
  if (!terms || !rule) return []
  if (reason === 'excluded' || reason === 'expired') return conditionSentences(rule, words)
  if (reason !== 'not_qualified' || rule.kind !== 'once') return []
  if (name === 'before_signup') return [words.text('state.early')]
  if (name === 'min') {
    return min ? [words.text('why.least', { amount: words.money(min, terms.currency) })] : []
  }
  const isOver = until !== undefined && until <= asOf
  const seen = { reached: reached ?? null, min: min ?? null, until: until ?? null }
  const isMissing = name === 'trigger' || name === 'rate' || name?.startsWith('qualify/')
  const state: SeenState = {
    status: isMissing ? (isOver ? 'failed' : 'waiting') : 'refused',
    missing: name !== null && isMissing ? [name] : [],
    closed: name !== null && isOver ? { window: name, until } : null,
    until: until ?? null,
    refused_by: name,
    conditions: (rule.qualify ?? []).map((condition) => ({ condition, status: 'open', ...seen })),
  }
  return stateWords(state, { ...terms, trigger: rule.trigger }, words)
}

const REFUSED: ReadonlyMap<string, MessageName> = new Map([
  ['refused', 'state.refused'],
  ['reversed', 'state.reversed'],
  ['void_by', 'state.voided'],
])
