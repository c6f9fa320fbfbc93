import { minorDigits } from '../minor-digits.ts'
import { dayNumber } from './calendar.ts'
import { MAX_RATE_AGE } from './convert.ts'
import type { FactOutcome } from './fact-reports.ts'
import type { FactResource } from './facts.ts'
import type {
  ConditionName,
  Conditions,
  FactTerm,
  OnceRule,
  PlanTerms,
  Qualification,
  Rule,
  Term,
} from './plan.ts'
import {
  activityWord,
  baseWords,
  conditionWords,
  either,
  kindWords,
  qualificationWords,
  transactionWord,
  triggerWords,
} from './plan-words.ts'
import { counted, figure, listed, money, type Reason, type Verdict } from './reasons.ts'
import { DEFAULT_GRACE_HOURS } from './rules.ts'
import { dayWords } from './time-words.ts'

// Why a record earned nothing, in plain English, with what to do next.

/** A record, or several that earned nothing for the same reason. */
export interface Unpaid
  extends Pick<FactOutcome, 'reason' | 'rule' | 'condition' | 'reached' | 'min' | 'until'> {
  readonly resource: FactResource
  /** The type of transactions; null of other records. */
  readonly transaction_type: string | null
  /** The name of events; null of other records. */
  readonly eventname: string | null
  readonly currency: string | null
  /** The day of the record; absent for several. */
  readonly day?: string
  readonly affiliate_id?: string | null
}

/** Where the next step is done: a page of the console. */
export type StepPlace =
  | 'rates'
  | 'mappings'
  | 'held'
  | 'new affiliate'
  | 'affiliate'
  | 'customer'
  | 'plan of the affiliate'
  | 'plan'

/** A reason in words: a sentence, and what to do next. */
export interface ReasonWords {
  readonly sentence: string
  /** What to do, as a sentence; `at` is where, or null if it is done outside of the service. */
  readonly next: { readonly text: string; readonly at: StepPlace | null }
}

/** What a sentence is made from. `rule` and `terms` are null if they are not known. */
interface Case {
  readonly unpaid: Unpaid
  readonly terms: PlanTerms | null
  readonly rule: Rule | null
  /** The rule by its name: `The rule “cpa”`. */
  readonly named: string
  /** ` on 16 Mar 2026`, or ` on that day` for several records. */
  readonly onDay: string
  /** The present day, in days since 1970. */
  readonly today: number
}

const words = (sentence: string, text: string, at: StepPlace | null): ReasonWords => ({
  sentence,
  next: { text, at },
})

const SEE_PLAN = 'See what the plan pays for.'
const SEE_CUSTOMER = 'See what the customer has done.'
const UPLOAD_RATES = 'Upload the rates.'

/**
 * Returns in words why a record, or a group of records, earned nothing.
 *
 * @param terms The version of the plan that decided; null if none did or it is not known.
 * @param today The present day, such as `2026-10-05`.
 */
export function reasonWords(unpaid: Unpaid, terms: PlanTerms | null, today: string): ReasonWords {
  const rule = terms?.rules.find(({ id }) => id === unpaid.rule) ?? null
  return REASON_WORDS[unpaid.reason]({
    unpaid,
    terms,
    rule,
    named: unpaid.rule === null ? 'The rule' : `The rule “${unpaid.rule}”`,
    onDay: unpaid.day === undefined ? ' on that day' : ` on ${dayWords(unpaid.day)}`,
    today: dayNumber(today),
  })
}

/** The reasons as titles of groups and choices. */
export const REASON_TITLES: Readonly<Record<Reason, string>> = {
  held: 'Waits for the customer',
  implausible_time: 'Impossible time',
  organic: 'No affiliate',
  unknown_affiliate: 'Affiliate not set up',
  refused: 'Customer refused',
  no_plan: 'No plan',
  pending: 'Pending',
  unmapped: 'Status without a meaning',
  declined: 'Declined',
  reversed: 'Reversed',
  no_rule: 'No rule pays for it',
  excluded: 'Left out by a condition',
  expired: 'Too long after the signup',
  no_currency: 'No currency',
  fx_pending: 'Waits for an exchange rate',
  fx_missing: 'No exchange rate',
  already_counted: 'Already paid for the customer',
  not_qualified: 'Not qualified',
}

/** Names a number of records by their type: `1 deposit`, `12 withdrawals`, `3 Login events`. */
export const countedRecords = (count: number, unpaid: Unpaid): string =>
  `${figure(String(count))} ${
    unpaid.resource === 'trading-activity'
      ? `row${count === 1 ? '' : 's'} of trading activity`
      : count === 1
        ? recordWord(unpaid)
        : recordsWord(unpaid)
  }`

const REASON_WORDS: Readonly<Record<Verdict, (one: Case) => ReasonWords>> = {
  counted: () => words('A line of a statement counts it.', 'See the line.', null),
  held: () =>
    words(
      'The customer has not arrived yet.',
      'Have the sender send the customer. What is held then counts by itself.',
      'held',
    ),
  implausible_time: () =>
    words(
      'The time cannot be right: it is before the year 2000, or more than 36 hours ahead.',
      'Have the sender correct the time. A day that is still to come counts when it has come.',
      null,
    ),
  organic: ({ onDay }) =>
    words(
      `The customer had no affiliate${onDay}.`,
      'See where the customer came from.',
      'customer',
    ),
  unknown_affiliate: ({ unpaid: { affiliate_id } }) =>
    words(
      affiliate_id
        ? `The affiliate ${affiliate_id} is not set up.`
        : 'The affiliate of the customer is not set up.',
      'Set up the affiliate.',
      affiliate_id ? 'new affiliate' : 'affiliate',
    ),
  refused: ({ onDay }) =>
    words(
      `The customer was refused${onDay}.`,
      'See why, and end the refusal if it is wrong.',
      'customer',
    ),
  no_plan: ({ onDay }) =>
    words(
      `No plan was in force for the affiliate${onDay}.`,
      'Assign a plan to the affiliate.',
      'affiliate',
    ),
  pending: () =>
    words('The sender says that it is pending.', 'It counts once it is sent as approved.', null),
  unmapped: () => words('Its status has no meaning yet.', 'Say what the status means.', 'mappings'),
  declined: () =>
    words(
      'The sender says that it was declined.',
      'It counts only if it is sent again as approved.',
      null,
    ),
  reversed: () =>
    words(
      'The sender says that it was reversed.',
      'It counts only if it is sent again as approved.',
      null,
    ),
  no_rule: ({ unpaid }) =>
    words(
      `No rule of the plan pays for ${recordsWord(unpaid)}.`,
      SEE_PLAN,
      'plan of the affiliate',
    ),
  excluded: (one) => words(excludedSentence(one), SEE_PLAN, 'plan'),
  expired: ({ rule, named, unpaid }) =>
    words(
      rule?.months === undefined
        ? `The time after the signup in which ${lower(named)} pays was over${untilText(unpaid)}.`
        : `${named} pays only in the first ${counted(rule.months, 'month')} after the signup, and they were over${untilText(unpaid)}.`,
      SEE_PLAN,
      'plan',
    ),
  no_currency: () =>
    words('No currency was sent with the amount.', 'Have the sender send the currency.', null),
  fx_pending: (one) =>
    words(
      `It waits for the ${rateText(one)}${ofDay(one)}.`,
      'Upload the rates if they do not come by themselves.',
      'rates',
    ),
  fx_missing: (one) =>
    words(
      `There is no ${rateText(one)}${ofDay(one)} or of the ${MAX_RATE_AGE} days before.`,
      UPLOAD_RATES,
      'rates',
    ),
  already_counted: ({ named }) =>
    words(
      `${named} pays once for a customer, and has paid for this one.`,
      SEE_CUSTOMER,
      'customer',
    ),
  not_qualified: notQualified,
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** Names records by their type: `withdrawals`, `signups`, `trading activity`, `Login events`. */
function recordsWord({ resource, transaction_type, eventname }: Unpaid): string {
  if (resource === 'customers') return 'signups'
  if (resource === 'trading-activity') return 'trading activity'
  if (resource === 'activities') return `${eventname ?? 'such'} events`
  return `${transactionWord(transaction_type ?? 'transaction')}s`
}

/** Names a record by its type: `deposit`, `signup`. */
function recordWord({ resource, transaction_type, eventname }: Unpaid): string {
  if (resource === 'customers') return 'signup'
  if (resource === 'trading-activity') return 'trading activity'
  if (resource === 'activities') return `${eventname ?? ''} event`.trim()
  return transactionWord(transaction_type ?? 'transaction')
}

/** Names the rate that is missing. All rates are those of the euro. */
function rateText({ unpaid: { currency }, terms }: Case): string {
  const missing = [currency, terms?.currency].filter((one) => one && one !== 'EUR')
  const [first, second] = [...new Set(missing)]
  if (first === undefined) return 'exchange rate'
  return second === undefined ? `${first} rate` : `rate from ${first} to ${second}`
}

const ofDay = ({ unpaid: { day } }: Case): string =>
  day === undefined ? ' of its day' : ` of ${dayWords(day)}`

/** Returns whether a term names a record: its type, its event, or trading activity. */
function namesRecord(term: Term, { resource, transaction_type, eventname }: Unpaid): boolean {
  if ('transactions' in term) return term.transactions.includes(transaction_type ?? '')
  if ('event' in term) return term.event === eventname
  return 'activity' in term && resource === 'trading-activity'
}

/** Returns the terms of a rule that may have conditions of their own. */
function termsOfRule(rule: Rule): readonly Term[] {
  if (rule.kind === 'share') return rule.base
  if (rule.kind === 'once')
    return (rule.qualify ?? []).flatMap((one) => ('sum' in one ? one.sum : []))
  return rule.kind === 'override' && 'base' in rule.of ? rule.of.base : []
}

/** Returns the conditions that have the one that did not hold: those of the rule, or of one of its terms. */
function conditionsOf({ rule, unpaid }: Case): Conditions | null {
  if (!rule || unpaid.condition === null) return null
  const name = unpaid.condition as keyof Conditions
  const terms = termsOfRule(rule).filter((term) => namesRecord(term, unpaid))
  const found = [rule.when, ...terms.map((term) => (term as FactTerm).when)]
  return found.find((when) => when?.[name] !== undefined) ?? null
}

/** What the members of conditions are about, where the plan is not known. */
const CONDITION_TOPICS: Readonly<Record<string, string>> = {
  countries: 'the country of the customer',
  account_types: 'the account type of the customer',
  challenge_types: 'the challenge of the customer',
  phases: 'the phase of the customer',
  kyc: 'the KYC status of the customer',
  sales: 'the sales status of the customer',
  links: 'the link by which the customer came',
  account_size: 'the account size of the customer',
  instruments: 'the instrument',
  products: 'the product',
  currencies: 'the currency',
  subtypes: 'the kind of transaction',
} satisfies Record<ConditionName, string>

function excludedSentence(one: Case): string {
  const { named, unpaid } = one
  const condition = unpaid.condition ?? ''
  const conditions = conditionsOf(one)
  if (conditions) {
    const value = conditions[condition as keyof Conditions]
    const { only, not } = conditionWords({ [condition]: value })
    if (only.length > 0) return `${named} pays only for ${listed(only)}.`
    if (not.length > 0) return `${named} does not pay for ${either(not)}.`
  }
  const topic = CONDITION_TOPICS[condition.replace(/^not_/, '')] ?? 'such a record'
  return `${named} does not count ${topic === 'such a record' ? topic : `it because of ${topic}`}.`
}

const onceOf = ({ rule }: Case): OnceRule | null => (rule?.kind === 'once' ? rule : null)

/** Returns a sentence for each condition of a `once` rule that a record can fail. */
function notQualified(one: Case): ReasonWords {
  const condition = one.unpaid.condition ?? ''
  const [, index] = /^qualify\/(\d+)$/.exec(condition) ?? []
  if (index !== undefined) {
    const text = qualifySentence(one, onceOf(one)?.qualify?.[Number(index)])
    return words(text, SEE_CUSTOMER, 'customer')
  }
  const sentence = Object.hasOwn(ONCE_WORDS, condition) ? ONCE_WORDS[condition] : undefined
  return (
    sentence?.(one) ??
    words(`The customer has not qualified by ${lower(one.named)}.`, SEE_CUSTOMER, 'customer')
  )
}

const ONCE_WORDS: Readonly<Record<string, (one: Case) => ReasonWords>> = {
  min: (one) => words(minSentence(one), SEE_PLAN, 'plan'),
  trigger: (one) => {
    const rule = onceOf(one)
    const what = rule && one.terms ? triggerWords(rule.trigger, one.terms) : null
    return words(
      what === null
        ? `The customer has not done yet what ${lower(one.named)} pays for.`
        : `${one.named} pays when ${what}. ${sinceThen(one)}`,
      SEE_CUSTOMER,
      'customer',
    )
  },
  before_signup: (one) => {
    const rule = onceOf(one)
    const hours = rule ? (rule.grace_hours ?? DEFAULT_GRACE_HOURS) : null
    const early =
      hours === null || hours === 0 ? 'before' : `more than ${counted(hours, 'hour')} before`
    return words(
      `It is ${early} the signup of the customer, too early for ${lower(one.named)}.`,
      'Compare its time with the signup of the customer.',
      'customer',
    )
  },
  rate: ({ named }) =>
    words(
      `${named} waits for the exchange rate of another record of the customer.`,
      UPLOAD_RATES,
      'rates',
    ),
  reversed: ({ named }) =>
    words(
      `The customer does not qualify by ${lower(named)}: what it pays for was reversed.`,
      SEE_CUSTOMER,
      'customer',
    ),
  void_by: (one) => {
    const voidBy = onceOf(one)?.void_by
    return words(
      voidBy && one.terms
        ? `The customer does not qualify by ${lower(one.named)}: ${baseWords(voidBy.terms, one.terms)} reached its amount within ${counted(voidBy.within_days, 'day')}.`
        : `The customer does not qualify by ${lower(one.named)}: the amount was taken back.`,
      SEE_CUSTOMER,
      'customer',
    )
  },
  elsewhere: ({ named }) =>
    words(
      `${named} is not in force for the record that decides about this customer: that one belongs to another affiliate, plan or version.`,
      SEE_CUSTOMER,
      'customer',
    ),
}

/** Says that what a rule pays for has not happened, or can no longer happen in time. */
function sinceThen({ unpaid: { until }, today }: Case): string {
  const left = until === undefined ? null : dayNumber(until) - today
  if (left === null) return 'That has not happened yet.'
  if (left >= 0) return `That has not happened yet; ${daysLeft(left)}.`
  return `That did not happen in time: the time was over on ${dayWords(until ?? '')}.`
}

const daysLeft = (left: number): string =>
  left === 0 ? 'today is the last day' : `${counted(left, 'day')} left`

function minSentence(one: Case): string {
  const { named, unpaid, terms } = one
  const rule = onceOf(one)
  const least = unpaid.min ?? (rule && 'min' in rule.trigger ? rule.trigger.min : undefined)
  if (least === undefined || !terms)
    return `The amount is below the least that ${lower(named)} asks for.`
  const required = `${lower(named)} asks for at least ${money(least, terms.currency)}`
  return unpaid.reached === undefined
    ? `The amount is too small: ${required}.`
    : `The ${recordWord(unpaid)} is ${money(unpaid.reached, terms.currency)}: ${required}.`
}

/** Returns what a condition of `qualify` still needs: `The customer has 3 of 5 lots; 12 days left.` */
function qualifySentence(one: Case, condition: Qualification | undefined): string {
  const { named, unpaid, terms } = one
  if (!condition || !terms) return `The customer does not meet a condition of ${lower(named)} yet.`
  const { reached, min } = unpaid
  if ('customer' in condition || reached === undefined || min === undefined) {
    return `${named} waits until ${qualificationWords(condition, terms)}.`
  }
  if (reached === min) {
    return `The customer has reached ${quantityText(condition, min, terms)}. It counts if that is still so when the time is over${untilText(unpaid)}.`
  }
  const progress = `${progressText(condition, { reached, min }, terms)}`
  const left = unpaid.until === undefined ? null : dayNumber(unpaid.until) - one.today
  if (left === null) return `The customer has ${progress}; there is no time limit.`
  if (left < 0) return `The customer had ${progress} when the time was over${untilText(unpaid)}.`
  return `The customer has ${progress}; ${daysLeft(left)}.`
}

const untilText = ({ until }: Unpaid): string =>
  until === undefined ? '' : `, on ${dayWords(until)}`

type Countable = Exclude<Qualification, { customer: Conditions }>

/** Returns whether a condition is about money: lots and volume are not. */
const isMoney = (condition: Countable): boolean =>
  'sum' in condition &&
  condition.sum.every((term) => !('activity' in term && /lots|volume/.test(term.activity)))

/** Names what a condition sums or counts: `lots`, `deposits`, `days with lots traded`. */
function unitText(condition: Countable, terms: PlanTerms): string {
  if ('count' in condition) {
    const { count } = condition
    return 'activity' in count ? `days with ${activityWord(count.activity)}` : kindWords(count)
  }
  const isLots = condition.sum.every(
    (term) => 'activity' in term && term.activity === 'lots_traded' && !term.when,
  )
  return isLots ? 'lots' : baseWords(condition.sum, terms)
}

function quantityText(condition: Countable, value: string, terms: PlanTerms): string {
  const unit = unitText(condition, terms)
  return isMoney(condition)
    ? `${money(value, terms.currency)} of ${unit}`
    : `${figure(value)} ${unit}`
}

/** Returns a decimal with fewer places, not rounded up: what is not reached never looks as if it were. */
function cut(text: string, places: number): string {
  const [whole = '0', fraction = ''] = text.split('.')
  const kept = fraction.slice(0, places)
  return kept === '' ? whole : `${whole}.${kept}`
}

/** The decimal places of lots, volume and other units in sentences. */
const UNIT_PLACES = 2

/** Returns `3 of 5 lots`, or `200.00 of 500.00 EUR of deposits`. */
function progressText(
  condition: Countable,
  { reached, min }: { reached: string; min: string },
  terms: PlanTerms,
): string {
  const places = isMoney(condition) ? minorDigits(terms.currency) : UNIT_PLACES
  const soFar = figure(cut(reached, places), isMoney(condition) ? places : 0)
  return `${soFar} of ${quantityText(condition, min, terms)}`
}
