import type { Qualification, Trigger } from '../engine/plan.ts'
import {
  isMoney,
  kindWords,
  measureOf,
  qualificationWords,
  triggerWords,
  unitMeasure,
} from '../engine/plan-words.ts'
import { isRecord } from '../engine/reasons.ts'
import { minorDigits as digitsOf } from '../minor-digits.ts'
import { correctionWords } from '../statements/cause-words.ts'
import { isSome } from '../statements/line-groups.ts'
import type { MessageName } from '../words/en.ts'
import type { Words } from '../words/words.ts'
import type { AdjustmentExplanation } from './answers.ts'
import { escapeStrings } from './escape-strings.ts'
import type { Explanation, Step } from './steps.ts'

// Why a line pays what it pays, and what became of a customer, in the language of an affiliate and without the
// ids of records. The explanation of the firm says more, in English.

/** The conversions that are written; the JSON of an explanation lists all. */
const WRITTEN = 5

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Writes the explanation of a line or of a correction, a sentence each. */
export const sentencesIn = (
  explanation: AdjustmentExplanation | Explanation,
  words: Words,
): string[] =>
  'of' in explanation ? adjustmentWords(explanation, words) : explanationWords(explanation, words)

/** Writes the explanation of a line or of a correction, a sentence on each line of the text. */
export const textOfSentences = (
  explanation: AdjustmentExplanation | Explanation,
  words: Words,
): string => `${sentencesIn(escapeStrings(explanation), words).join('\n')}\n`

/** Writes how a line came about, a sentence each. */
function explanationWords(explanation: Explanation, words: Words): string[] {
  const { currency, period, steps, stored, closed } = explanation
  const money = (amount: string) => words.money(amount, currency)
  const { text } = words
  return [
    ...(stored ? [text('why.stored', { amount: money(stored.amount) })] : []),
    ...(closed?.amount != null
      ? [
          text('why.approved', {
            period: capital(words.period(period)),
            amount: money(closed.amount),
          }),
        ]
      : []),
    ...(closed && closed.adjustments.length > 0
      ? [
          text('why.corrected', {
            amounts: words.and(closed.adjustments.map(({ amount }) => money(amount))),
          }),
        ]
      : []),
    ...(closed && steps.length === 0 ? [text('why.gone')] : []),
    ...steps.flatMap((step) => stepWords(step, explanation, words)),
  ]
}

/** Writes what a correction corrects and why, and how the line comes about now. */
function adjustmentWords(explanation: AdjustmentExplanation, words: Words): string[] {
  const { of, now, amount, currency, causes, causes_total, id } = explanation
  const { rule = null, version = null, scope = null } = now?.line ?? {}
  const correction = {
    ...{ id, of, rule, version, scope, occurrence: 0 },
    amount,
    causes,
    causes_total,
  }
  return [
    `${correctionWords(correction, words.money(amount, currency), words)}.`,
    ...(now ? [words.text('why.now'), ...explanationWords(now, words)] : [words.text('why.gone')]),
  ]
}

/** What the sentences of a step need besides it. */
interface WordsContext {
  readonly words: Words
  readonly money: (amount: string) => string
  readonly currency: string
  readonly period: 'month' | 'week'
}

/** Writes one step of an explanation. What an affiliate must not see is not in it. */
function stepWords(step: Step, { currency, period }: Explanation, words: Words): string[] {
  const context: WordsContext = {
    ...{ words, currency, period: period.includes('W') ? 'week' : 'month' },
    money: (amount) => words.money(amount, currency),
  }
  const write = WRITERS[step.step] as (step: Step, context: WordsContext) => string[]
  return write(step, context)
}

type Named<Name extends Step['step']> = Extract<Step, { step: Name }>

const cutWords = (
  { capped, after }: Named<'max_per_customer' | 'max_count' | 'max'>,
  { words, money }: WordsContext,
): string[] =>
  isSome(capped) ? [words.text('why.cut', { capped: money(capped), amount: money(after) })] : []

/** The sentences of each step. */
const WRITERS: {
  readonly [Name in Step['step']]: (step: Named<Name>, context: WordsContext) => string[]
} = {
  facts: factsWords,
  conversion: conversionsWords,
  base: ({ base }, { words, money }) => [words.text('why.base', { amount: money(base) })],
  units: unitsWords,
  trigger: triggeredWords,
  qualification: qualifiedWords,
  sources: ({ sources, affiliate_id }, { words }) =>
    sources.map((one) =>
      words.text('why.source', {
        affiliate: affiliate_id,
        period: words.period(one.period),
        amount: words.money(one.amount, one.currency),
      }),
    ),
  funded: ({ period, converted }, { words, money }) => [
    words.text('why.funded', { period: words.period(period), amount: money(converted) }),
  ],
  floor: ({ before }, { words, money }) => [words.text('why.floor', { amount: money(before) })],
  fence: ({ fenced, paid_back, base }, { words, money }) => [
    words.text('why.fence', {
      fenced: money(fenced),
      paid: money(paid_back),
      base: money(base),
    }),
  ],
  measure: ({ measure, steps }, { words }) => [
    words.text('why.measure', {
      figure: words.figure(measure),
      steps: words.and(steps.map(({ from }) => words.figure(from))),
    }),
  ],
  rate: ratedWords,
  clamp: ({ before, after }, { words, money }) =>
    before === after ? [] : [words.text('why.clamp', { amount: money(after) })],
  rounding: ({ before, after }, { words, money }) =>
    money(before) === money(after) ? [] : [words.text('why.rounded', { amount: money(after) })],
  max_per_customer: cutWords,
  max_count: cutWords,
  max: cutWords,
  negative: negativeWords,
  advance: ({ paid_once, deficit_in, after }, { words, money }) => [
    words.text('why.advance', {
      paid: money(paid_once),
      deficit: money(deficit_in),
      amount: money(after),
    }),
  ],
  amount: ({ amount }, { words, money }) => [words.text('why.amount', { amount: money(amount) })],
}

function factsWords(step: Named<'facts'>, { words }: WordsContext): string[] {
  if (step.records === 0) return [words.text('why.none')]
  return [
    countedWords(step, words),
    ...step.terms.flatMap(({ term, currencies }) =>
      currencies.length === 0 || !isKind(term)
        ? []
        : [
            words.text('why.value', {
              what: capital(kindWords(term, words)),
              value: words.and(currencies.map((one) => words.money(one.amount, one.currency))),
            }),
          ],
    ),
  ]
}

function unitsWords(step: Named<'units'>, { words }: WordsContext): string[] {
  const { text, figure } = words
  const { unit, units, each, quantity } = step
  return [
    countedWords(step, words),
    ...(isUnit(unit)
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

function triggeredWords(
  { record }: Named<'trigger'>,
  { words, money, currency }: WordsContext,
): string[] {
  const { amount, currency: own, converted } = record
  const day = words.day(record.day)
  if (amount === null || own === null) return [words.text('why.trigger', { day })]
  const counted = converted === null || own === currency ? '' : ` = ${money(converted)}`
  return [words.text('why.triggerAmount', { day, amount: `${words.money(amount, own)}${counted}` })]
}

function qualifiedWords(
  { conditions, qualified_on }: Named<'qualification'>,
  context: WordsContext,
) {
  const { words, currency } = context
  return [
    ...conditions.map(({ condition, met_on, reached }) =>
      words.text(reached === null ? 'why.met' : 'why.metWith', {
        day: words.day(met_on),
        condition: clauseOf(qualificationWords(condition, context, words), words),
        reached: reached === null ? '' : reachedText(condition, reached, currency, words),
      }),
    ),
    words.text('why.qualified', { day: words.day(qualified_on) }),
  ]
}

function ratedWords(
  { rate_is, parts, amount: sum }: Named<'rate'>,
  { words, money }: WordsContext,
) {
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

function negativeWords(step: Named<'negative'>, { words, money }: WordsContext): string[] {
  const { before, after, carried_in, carried_out } = step
  if (step.negative === 'zero') {
    return before === after ? [] : [words.text('why.unpaid', { amount: money(before) })]
  }
  const isCarried = isSome(carried_out)
  return [
    ...(isSome(carried_in)
      ? [
          words.text('why.carriedIn', {
            carried: money(carried_in),
            before: money(before),
            amount: money(isCarried ? carried_out : after),
          }),
        ]
      : []),
    ...(isCarried ? [words.text('why.carriedOn', { amount: money(carried_out) })] : []),
  ]
}

type Kind = Parameters<typeof kindWords>[0]
type UnitKind = Parameters<typeof unitMeasure>[0]

const isKind = (term: unknown): term is Kind =>
  isRecord(term) && ['transactions', 'activity', 'event'].some((name) => Object.hasOwn(term, name))

const isUnit = (unit: unknown): unit is UnitKind =>
  isKind(unit) || (isRecord(unit) && isKind(unit.count))

const countedWords = (of: { records: number; customers: number }, { text }: Words): string =>
  text('why.counted', {
    records: text('count.records', { count: of.records }),
    customers: text('count.customers', { count: of.customers }),
  })

function conversionsWords(
  { days, currency }: Named<'conversion'>,
  { words }: WordsContext,
): string[] {
  const all = days.flatMap((one) => [
    ...(one.sums > 0 ? [one] : []),
    ...(one.by_amount_usd ? [{ ...one, ...one.by_amount_usd }] : []),
  ])
  const rest = all.length - WRITTEN
  return [
    ...all.slice(0, WRITTEN).map((one) =>
      words.text('why.converted', {
        day: words.day(one.day),
        amount: words.money(one.amount, one.currency),
        converted: words.money(one.converted, currency),
      }),
    ),
    ...(rest > 0 ? [words.text('why.moreConverted', { count: rest })] : []),
  ]
}

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
  readonly before_signup?: readonly string[]
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
    'customer' in condition ? null : measureOf(condition, { currency, period }, words)
  const what =
    measured !== null && reached != null && min !== null
      ? words.text('state.progress', {
          what: measured,
          reached:
            'sum' in condition
              ? words.figure(padded(reached, condition, currency))
              : words.figure(reached),
          min: reachedText(condition, min, currency, words),
        })
      : clauseOf(qualificationWords(condition, { currency, period }, words), words)
  return untilWords(what, until, words)
}

const untilWords = (what: string, until: string | null, { text, day }: Words): string =>
  until === null ? what : text('state.until', { what, day: day(until) })

/** Returns a sum of money with the minor digits of its currency, as the amount beside it has them. */
function padded(reached: string, condition: Qualification, currency: string): string {
  if (!('sum' in condition) || !isMoney(condition.sum)) return reached
  const [whole = '0', fraction = ''] = reached.split('.')
  const digits = fraction.padEnd(digitsOf(currency), '0')
  return digits === '' ? whole : `${whole}.${digits}`
}

/** Writes why a customer has not qualified under a rule: what is missing and until when, or what was not met. */
export function stateWords(state: SeenState, rule: StateRule, words: Words): string[] {
  const early = (state.before_signup ?? []).length > 0 ? [words.text('state.early')] : []
  return [...outcomeWords(state, rule, words), ...early]
}

function outcomeWords(state: SeenState, rule: StateRule, words: Words): string[] {
  const { status, missing, closed, until, refused_by, conditions } = state
  const { text } = words
  const trigger = rule.trigger && clauseOf(triggerWords(rule.trigger, rule, words), words)
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
        condition: clauseOf(qualificationWords(one.condition, rule, words), words),
      }),
    ]
  return [text(REFUSED.get(refused_by) ?? 'state.notFor')]
}

/** What became of a record under a rule that pays once, as far as an affiliate sees it. */
export interface SeenOutcome {
  readonly condition: string | null
  readonly reached?: string
  readonly min?: string
  readonly until?: string
}

/**
 * Writes why the customer of a record has not qualified under a rule as of a day: what is missing and until when, or
 * what was not met in time.
 */
export function outcomeStateWords(
  { condition: name, reached, min, until }: SeenOutcome,
  rule: StateRule & { readonly qualify?: readonly Qualification[] | undefined },
  asOf: string,
  words: Words,
): string[] {
  if (name === 'before_signup') return [words.text('state.early')]
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
  return stateWords(state, rule, words)
}

const REFUSED: ReadonlyMap<string, MessageName> = new Map([
  ['refused', 'state.refused'],
  ['reversed', 'state.reversed'],
  ['void_by', 'state.voided'],
])
