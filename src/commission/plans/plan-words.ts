import {
  decimal,
  integer,
  isNegative,
  multiply,
  negate,
  plainText,
} from '../../platform/money/decimal.ts'
import { ENGLISH, isMessageName, type Words } from '../words/words.ts'
import { FACT_CONDITIONS } from './conditions.ts'
import type { PlanSpeech } from './modifiers/modifier.ts'
import { modifierSentences } from './modifiers/order.ts'
import type {
  ActivityKind,
  Conditions,
  EventKind,
  FactTerm,
  ListName,
  OverrideRule,
  PlanTerms,
  Qualification,
  Rule,
  Term,
  Tiers,
  TransactionKind,
  Trigger,
  Unit,
} from './types.ts'

// A plan in words: each rule as sentences that a manager and an affiliate can read, in English unless
// other words are given.

/** What the sentences of a rule need to know of its plan. */
type Frame = Pick<PlanTerms, 'currency' | 'period'>

/** A rule in words: `pays` says what it pays for, `limits` what else applies, each as a sentence. */
export interface RuleWords {
  readonly id: string
  readonly pays: string
  readonly limits: readonly string[]
}

type FactKind = TransactionKind | ActivityKind | EventKind

/** Names a field of trading activity. */
export const activityWord = (field: ActivityKind['activity'], words = ENGLISH): string =>
  words.text(`activity.${field}`)

/** Joins a list of alternatives: `a, b or c`. */
export const either = ENGLISH.or

/** Names a type of transactions: `IB rebate`, `deposit`. A type without a name of its own is `other`. */
export const transactionWord = (type: string): string => {
  const name = `transaction.${type}`
  return type !== 'other' && isMessageName(name) ? ENGLISH.text(name) : type.replaceAll('_', ' ')
}

const spaced = (name: string): string => name.replaceAll('_', ' ')

const quoted = (name: string, words: Words): string => words.text('quoted', { name })

/** Names transactions of a type, in the form that fits their number. */
export function typeWord(type: string, count: number, words: Words): string {
  const name = `transaction.${type}`
  return isMessageName(name) ? words.text(name, { count }) : quoted(spaced(type), words)
}

/** Names a type of transactions as what a rule waits for: `deposit`, `eine erste Einzahlung`. */
function firstWord(type: string, words: Words): string {
  const name = `first.${type}`
  return isMessageName(name) ? words.text(name) : quoted(spaced(type), words)
}

/** The number that stands for many. */
const MANY = 2

/** Adds the subtypes to the words of transactions. */
function withSubtypes(transactions: string, { subtypes }: TransactionKind, words: Words): string {
  if (!subtypes) return transactions
  const named = subtypes.map((one) => quoted(spaced(one), words))
  return words.text('kind.subtypes', { transactions, subtypes: words.or(named) })
}

function eventWords({ event, kpi }: EventKind, count: number, words: Words): string {
  const named = { event: quoted(event, words), count }
  return kpi === undefined
    ? words.text('kind.event', named)
    : words.text('kind.kpi', { ...named, kpi: quoted(kpi, words) })
}

/** Names facts as a sum: `deposits and refunds`, `spread`, `NGR of bet events`. */
export function kindWords(kind: FactKind, words = ENGLISH): string {
  if ('transactions' in kind) {
    const types = kind.transactions.map((type) => typeWord(type, MANY, words))
    return withSubtypes(words.and(types), kind, words)
  }
  return 'activity' in kind ? activityWord(kind.activity, words) : eventWords(kind, MANY, words)
}

/** Names a value of a condition as people read it: countries and known phases by their names. */
function valueWord(list: string, value: string, words: Words): string {
  if (list === 'countries') return words.country(value)
  const phase = `phase.${value}`
  if (list === 'phases' && isMessageName(phase)) return words.text(phase)
  return list === 'currencies' ? value : quoted(value, words)
}

/** Conditions in words: whom and what they include, and whom and what they leave out. */
export function conditionWords(
  conditions: Conditions | undefined,
  words = ENGLISH,
): {
  readonly only: readonly string[]
  readonly not: readonly string[]
} {
  const { account_size: { min, max } = {}, ...lists } = conditions ?? {}
  const phrases = (isNot: boolean, ofCustomer: boolean): string[] =>
    Object.entries(lists).flatMap(([name, values]) => {
      const list = name.replace(/^not_/, '') as ListName
      return values === undefined ||
        name.startsWith('not_') !== isNot ||
        FACT_CONDITIONS.has(name) === ofCustomer
        ? []
        : [
            words.text(`only.${list}`, {
              values: words.or(values.map((value) => valueWord(list, value, words))),
            }),
          ]
    })
  const customers = (conditions: string): string => words.text('group.customers', { conditions })
  const records = (conditions: string): string => words.text('group.records', { conditions })
  const included = [
    ...phrases(false, true),
    ...(min === undefined
      ? []
      : [words.text('only.account_size.least', { min: words.figure(min) })]),
    ...(max === undefined
      ? []
      : [words.text('only.account_size.most', { max: words.figure(max) })]),
  ]
  const ofRecords = phrases(false, false)
  return {
    // All must hold, but any of those that leave out is enough.
    only: [
      ...(included.length > 0 ? [customers(words.and(included))] : []),
      ...(ofRecords.length > 0 ? [records(words.and(ofRecords))] : []),
    ],
    not: [...phrases(true, true).map(customers), ...phrases(true, false).map(records)],
  }
}

/** Writes conditions in brackets behind what they limit: `deposits (only records on XAU*)`. */
export function limitedWords(
  what: string,
  conditions: Conditions | undefined,
  words: Words,
): string {
  const found = conditionWords(conditions, words)
  const [only, not] = [words.and(found.only), words.or(found.not)]
  const included = only === '' ? what : words.text('limited.only', { what, only })
  return not === '' ? included : words.text('limited.not', { what: included, not })
}

const percentText = (times: string, { percent }: Words): string =>
  percent(plainText(multiply(decimal(times), integer(100))))

/** Writes a term without its sign. */
function termWords(term: Term, names: ReadonlyMap<string, string>, speech: PlanSpeech): string {
  const { words, currency, period } = speech
  if ('fixed' in term) {
    const amount = isNegative(decimal(term.fixed))
      ? plainText(negate(decimal(term.fixed)))
      : term.fixed
    return words.text(`term.fixed.${period}`, { amount: words.money(amount, currency) })
  }
  const times = decimal(('times' in term && term.times) || '1')
  const size = plainText(isNegative(times) ? negate(times) : times)
  const part = (what: string): string =>
    size === '1' ? what : words.text('term.percent', { percent: percentText(size, words), what })
  if ('of' in term) return part(words.and(term.of.map((name) => names.get(name) ?? name)))
  return limitedWords(part(kindWords(term, words)), term.when, words)
}

const isDeduction = (term: Term): boolean =>
  isNegative(decimal('fixed' in term ? term.fixed : ((term as FactTerm).times ?? '1')))

/** Writes a base: `spread plus trading commission minus 20 % of trading commission`. */
function baseText(base: readonly Term[], speech: PlanSpeech): string {
  const { words } = speech
  const names = new Map<string, string>()
  return base.reduce((before, one, i) => {
    const term = termWords(one, names, speech)
    if (one.name !== undefined) names.set(one.name, term)
    if (i === 0) return isDeduction(one) ? words.text('base.negative', { term }) : term
    return words.text(isDeduction(one) ? 'base.minus' : 'base.plus', { before, term })
  }, '')
}

/** Names what a unit rule pays for: `for each lot traded`, `for each 10 deposits`. */
function unitWords(unit: Unit, each: string | undefined, words: Words): string {
  const isOne = each === undefined || each === '1'
  const count = isOne ? 1 : Number(each)
  const named = unitNoun(unit, count, words)
  return isOne
    ? words.text('unit.one', { unit: named })
    : words.text('unit.many', { each: words.figure(each), unit: named })
}

/** Names a number of units: `lots traded`, `USD of traded volume`, `deposit`. */
function unitNoun(unit: Unit, count: number, words: Words): string {
  if ('count' in unit) {
    return 'transactions' in unit.count
      ? words.or(unit.count.transactions.map((type) => typeWord(type, count, words)))
      : eventWords({ event: unit.count.event }, count, words)
  }
  if ('event' in unit) return eventWords(unit, count, words)
  return unit.activity === 'lots_traded'
    ? words.text('unit.lots', { count })
    : words.text('unit.volume')
}

/** Names what a unit rule counts: `lots traded`, `number of deposits`. */
export function unitMeasure(unit: Unit, words = ENGLISH): string {
  if ('count' in unit) return words.text('numberOf', { nouns: kindWords(unit.count, words) })
  return kindWords(unit, words)
}

/** Returns what the tiers of a rule measure. */
function measureWords(
  { by, over = 'own', window = 'period' }: Tiers,
  own: string,
  speech: PlanSpeech,
): string {
  const { words, period } = speech
  const what =
    by === undefined
      ? own
      : 'once' in by
        ? words.text('by.once', { rule: quoted(by.once, words) })
        : 'customers' in by
          ? words.text('by.customers')
          : baseText(by.base, speech)
  return words.text(`measure.${over}.${window === 'period' ? period : window}`, { what })
}

/** Whether the rate of a rule is a percentage. */
export const isPercentRule = ({ tiers, ...rule }: Rule): boolean =>
  tiers?.steps[0] === undefined
    ? 'percent' in rule && rule.percent !== undefined
    : tiers.steps[0].percent !== undefined

/** Returns the rate of a rule: `30 %`, `5.00 EUR`, or `3.00 to 7.00 EUR` if it has tiers. */
export function rateWords(rule: Rule, { currency }: Frame, words = ENGLISH): string {
  const text = (value = '0'): string =>
    isPercentRule(rule) ? words.percent(value) : words.money(value, currency)
  const steps = rule.tiers?.steps
  if (steps) {
    const [first, last] = [steps[0], steps.at(-1)]
    const [from, to] = [text(first?.percent ?? first?.amount), text(last?.percent ?? last?.amount)]
    return from === to ? from : words.text('rate.span', { from, to })
  }
  if ('percent' in rule && rule.percent !== undefined) return text(rule.percent)
  return text(('amount' in rule && rule.amount) || '0')
}

/** Returns a sentence for the tiers of a rule. */
function tierSentences({ tiers }: Rule, own: string, speech: PlanSpeech): string[] {
  if (!tiers) return []
  const { words, currency } = speech
  const steps = tiers.steps
    .map(({ from, percent, amount }) =>
      words.text('tier.step', {
        rate: percent === undefined ? words.money(amount ?? '0', currency) : words.percent(percent),
        from: words.figure(from),
      }),
    )
    .reduce((before, step) => words.text('tier.next', { before, step }))
  return [words.text(`tiers.${tiers.mode}`, { measure: measureWords(tiers, own, speech), steps })]
}

/** Returns what a trigger is: `the customer makes a first deposit of at least 100 EUR`. */
export function triggerWords(
  trigger: Trigger,
  { currency, words }: Pick<PlanSpeech, 'currency' | 'words'>,
): string {
  if ('signup' in trigger) return words.text('trigger.signup')
  const hasMin = trigger.min !== undefined
  const min = hasMin ? words.money(trigger.min, currency) : ''
  if ('event' in trigger) {
    const event = quoted(trigger.event, words)
    return words.text(hasMin ? 'trigger.eventMin' : 'trigger.event', { event, min })
  }
  const isFee = trigger.transactions.every((type) => /fee$/.test(type))
  const types = words.or(trigger.transactions.map((type) => firstWord(type, words)))
  return words.text(`trigger.${isFee ? 'paid' : 'made'}${hasMin ? 'Min' : ''}`, {
    types: withSubtypes(types, trigger, words),
    min,
  })
}

/** Returns whether a sum of terms is an amount of money: lots and volume are none. */
export const isMoney = (terms: readonly FactTerm[]): boolean =>
  terms.every((term) => !('activity' in term && /lots|volume/.test(term.activity)))

type Count = Extract<Qualification, { count: unknown }>['count']

/** Names what a condition counts, for so many. English always has the plural. */
function countNoun(kind: Count, count: number, words: Words): string {
  if ('activity' in kind) {
    return words.text('activity.days', { activity: activityWord(kind.activity, words), count })
  }
  if ('event' in kind) return eventWords(kind, count, words)
  const types = words.or(kind.transactions.map((type) => typeWord(type, count, words)))
  return withSubtypes(types, kind, words)
}

const countNouns = (kind: Count, words: Words): string =>
  'activity' in kind ? countNoun(kind, MANY, words) : kindWords(kind, words)

/** Writes a condition of `qualify`: `deposits reach 500 EUR within 30 days of the signup`. */
export function qualificationWords(one: Qualification, speech: PlanSpeech): string {
  const { words, currency } = speech
  if ('customer' in one) {
    return limitedWords(words.text('qualify.customer'), one.customer, words)
  }
  const days = one.within_days
  if ('count' in one) {
    const values = {
      min: words.figure(String(one.min)),
      noun: countNoun(one.count, Number(one.min), words),
      nouns: countNouns(one.count, words),
    }
    return days === undefined
      ? words.text('qualify.count', values)
      : words.text('qualify.countWithin', { ...values, count: days })
  }
  const values = {
    terms: baseText(one.sum, speech),
    min: isMoney(one.sum) ? words.money(one.min, currency) : words.figure(one.min),
  }
  return days === undefined
    ? words.text('qualify.sum', values)
    : words.text(one.at === 'end' ? 'qualify.sumAtEnd' : 'qualify.sumWithin', {
        ...values,
        count: days,
      })
}

/** Names the sum or the count of a condition of `qualify`: `deposits`, `days with lots traded`. */
export const measureOf = (
  one: Exclude<Qualification, { customer: unknown }>,
  speech: PlanSpeech,
): string => ('sum' in one ? baseText(one.sum, speech) : countNouns(one.count, speech.words))

/** Says which records and customers a rule pays for, and for how long after the signup. */
export function conditionSentences({ when, months }: Rule, words: Words): string[] {
  const { only, not } = conditionWords(when, words)
  return [
    ...(only.length > 0 ? [words.text('onlyFor', { what: words.and(only) })] : []),
    ...(not.length > 0 ? [words.text('notFor', { what: words.or(not) })] : []),
    ...(months === undefined ? [] : [words.text('months', { count: months })]),
  ]
}

/** Says what an override pays for. */
function overridePays(
  { of, level, ...rule }: OverrideRule,
  rate: string,
  speech: PlanSpeech,
): string {
  const { words } = speech
  const below = level === 1 ? 'direct' : 'levels'
  const values = { rate, count: level }
  if ('lines' in of) {
    const kinds = words.and(of.lines.map((kind) => words.text(`kind.${kind}`)))
    return words.text(`override.lines.${below}`, { ...values, kinds })
  }
  if ('base' in of) {
    return words.text(`override.base.${below}`, { ...values, base: baseText(of.base, speech) })
  }
  return 'unit' in of
    ? words.text(`override.unit.${below}`, {
        ...values,
        unit: unitWords(of.unit, rule.each, words),
      })
    : words.text(`override.once.${below}`, { ...values, rule: quoted(of.once, words) })
}

/** Returns what a rule pays for, what its tiers measure without `by`, and what else applies to its kind. */
function kindOf(rule: Rule, speech: PlanSpeech): { pays: string; own: string; limits: string[] } {
  const { text, and } = speech.words
  const rate = rateWords(rule, speech, speech.words)
  switch (rule.kind) {
    case 'once': {
      const { trigger, qualify = [], void_by, grace_hours } = rule
      const conditions = [
        triggerWords(trigger, speech),
        ...qualify.map((one) => qualificationWords(one, speech)),
      ]
      return {
        pays: text(isPercentRule(rule) ? 'once.percent' : 'once.amount', {
          rate,
          conditions: and(conditions),
        }),
        own: text('by.qualified'),
        limits: [
          ...(void_by
            ? [
                text('void', {
                  terms: baseText(void_by.terms, speech),
                  count: void_by.within_days,
                }),
              ]
            : []),
          ...(rule.requalify ? [text('requalify')] : []),
          ...(grace_hours === undefined ? [] : [text('grace', { count: grace_hours })]),
        ],
      }
    }
    case 'share': {
      const base = baseText(rule.base, speech)
      return {
        pays: text(`share.${rule.per ?? 'affiliate'}`, { rate, base }),
        own: base,
        limits: [],
      }
    }
    case 'unit': {
      const unit = unitWords(rule.unit, rule.each, speech.words)
      const own = unitMeasure(rule.unit, speech.words)
      return { pays: text('unit.pays', { rate, unit }), own, limits: [] }
    }
    case 'override':
      return {
        pays: overridePays(rule, rate, speech),
        own: text('by.paid'),
        limits: [
          ...(rule.negative === 'offset' ? [text('override.offset')] : []),
          ...(rule.funded_by === 'downline' ? [text('override.downline')] : []),
        ],
      }
  }
}

/** Returns a rule in words. Amounts are in the plan's currency. */
export function ruleWords(rule: Rule, { currency, period }: Frame, words = ENGLISH): RuleWords {
  const speech = { currency, period, words }
  const { pays, own, limits } = kindOf(rule, speech)
  return {
    id: rule.id,
    pays,
    limits: [
      ...tierSentences(rule, own, speech),
      ...conditionSentences(rule, words),
      ...limits,
      ...modifierSentences(rule, speech),
    ],
  }
}

/** Returns the terms of a plan that are not rules, each as a sentence. */
export function termsWords(terms: PlanTerms, { text, money } = ENGLISH): string[] {
  const { currency, period, negative, minimum_payout, hold_days } = terms
  return [
    text(`terms.period.${period}`, { currency }),
    text(terms.terms === 'signup' ? 'terms.signup' : `terms.current.${period}`),
    text(negative === 'carry' ? `terms.carry.${period}` : 'terms.zero'),
    ...(decimal(minimum_payout).units === 0n
      ? []
      : [text(`terms.minimum.${period}`, { amount: money(minimum_payout, currency) })]),
    hold_days === 0
      ? text(`terms.due.${period}`)
      : text(`terms.dueLater.${period}`, { count: hold_days }),
  ]
}
