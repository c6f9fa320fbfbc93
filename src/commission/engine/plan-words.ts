import { type CustomerListName, isOfCustomer } from './conditions.ts'
import { countryInSentence } from './country-words.ts'
import { decimal, integer, isNegative, multiply, negate, plainText } from './decimal.ts'
import type {
  ActivityKind,
  Conditions,
  EventKind,
  FactTerm,
  ListName,
  OnceRule,
  OverrideRule,
  PlanTerms,
  Qualification,
  Rule,
  ShareRule,
  Term,
  Tiers,
  TransactionKind,
  Trigger,
  Unit,
  UnitRule,
} from './plan.ts'
import { counted, figure, isRecord, listed, money } from './reasons.ts'

// A plan in plain English: each rule as sentences that a manager and an affiliate can read.

/** What the sentences of a rule need to know of its plan. */
type Frame = Pick<PlanTerms, 'currency' | 'period'>

/** A rule in words: `pays` says what it pays for, `limits` what else applies, each as a sentence. */
export interface RuleWords {
  readonly id: string
  readonly pays: string
  readonly limits: readonly string[]
}

type FactKind = TransactionKind | ActivityKind | EventKind

const TRANSACTIONS: Readonly<Record<string, string>> = { ib_rebate: 'IB rebate' }

/** Names the fields of trading activity. */
export const ACTIVITY: Readonly<Record<ActivityKind['activity'], string>> = {
  lots_traded: 'lots traded',
  pnl: 'profit and loss of customers',
  volume_usd: 'traded volume in USD',
  spread_cost: 'spread',
  commission: 'trading commission',
}

/** Joins a list of alternatives: `a, b or c`. */
export const either = (items: readonly string[]): string =>
  items.length <= 1 ? items.join('') : `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`

/** Names a type of transactions: `IB rebate`, `deposit`. */
export const transactionWord = (type: string): string =>
  TRANSACTIONS[type] ?? type.replaceAll('_', ' ')

/** Returns the plural of a noun. A word that is none, such as `other`, stands before `transactions`. */
function plural(noun: string): string {
  if (noun === 'other') return 'other transactions'
  if (/(?:s|x|z|ch|sh)$/.test(noun)) return `${noun}es`
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`
}

const pluralType = (type: string): string => plural(transactionWord(type))

const singular = (type: string): string =>
  type === 'other' ? 'other transaction' : transactionWord(type)

const subtypesOf = ({ subtypes }: TransactionKind): string =>
  subtypes ? ` of the kind ${either(subtypes.map((one) => one.replaceAll('_', ' ')))}` : ''

/** Names facts as a sum: `deposits and refunds`, `spread`, `NGR of bet events`. */
export function kindWords(kind: FactKind): string {
  if ('transactions' in kind) {
    return `${listed(kind.transactions.map(pluralType))}${subtypesOf(kind)}`
  }
  if ('activity' in kind) return ACTIVITY[kind.activity]
  return kind.kpi ? `${kind.kpi} of ${kind.event} events` : `${kind.event} events`
}

const isFactKind = (kind: object): kind is FactKind =>
  ['transactions', 'activity', 'event'].some((name) => Object.hasOwn(kind, name))

/** Names what a term, a unit or a trigger counts: `deposits`, `signups`, `lines of the rule cpa`. */
export function countedWords(kind: unknown): string {
  if (!isRecord(kind)) return 'records'
  if (isRecord(kind.count)) return countedWords(kind.count)
  if (isFactKind(kind)) return kindWords(kind)
  if (kind.signup) return 'signups'
  return typeof kind.once === 'string' ? `lines of the rule ${kind.once}` : 'records'
}

const CONDITION_WORDS: Readonly<Record<string, string>> = {
  countries: 'from',
  account_types: 'with the account type',
  challenge_types: 'with the challenge',
  phases: 'in the phase',
  kyc: 'with the KYC status',
  sales: 'with the sales status',
  links: 'who came by the link',
  instruments: 'on',
  products: 'of the product',
  currencies: 'in',
  subtypes: 'of the kind',
} satisfies Record<ListName, string>

/** Returns the values of a condition as people read them: countries by their names. */
const valuesInWords = (name: string, values: readonly string[]): readonly string[] =>
  name === 'countries' ? values.map(countryInSentence) : values

const conditionPhrase = (name: string, values: readonly string[]): string =>
  `${CONDITION_WORDS[name] ?? name.replaceAll('_', ' ')} ${either(valuesInWords(name, values))}`

function sizePhrase({ min, max }: NonNullable<Conditions['account_size']>): string {
  const bounds = [
    ...(min === undefined ? [] : [`at least ${figure(min)}`]),
    ...(max === undefined ? [] : [`at most ${figure(max)}`]),
  ]
  return `with an account size of ${listed(bounds)}`
}

/** Conditions in words: whom and what they include, and whom and what they leave out. */
export function conditionWords(conditions: Conditions | undefined): {
  readonly only: readonly string[]
  readonly not: readonly string[]
} {
  const { account_size, ...lists } = conditions ?? {}
  const phrases = (isNot: boolean, ofCustomer: boolean): string[] =>
    Object.entries(lists).flatMap(([name, values]) =>
      values === undefined || name.startsWith('not_') !== isNot || isOfCustomer(name) !== ofCustomer
        ? []
        : [conditionPhrase(name.replace(/^not_/, ''), values)],
    )
  const included = [...phrases(false, true), ...(account_size ? [sizePhrase(account_size)] : [])]
  const records = phrases(false, false)
  return {
    // All must hold, but any of those that leave out is enough.
    only: [
      ...(included.length > 0 ? [`customers ${listed(included)}`] : []),
      ...(records.length > 0 ? [`records ${listed(records)}`] : []),
    ],
    not: [
      ...phrases(true, true).map((phrase) => `customers ${phrase}`),
      ...phrases(true, false).map((phrase) => `records ${phrase}`),
    ],
  }
}

/** Writes conditions in brackets behind what they limit: ` (only records on XAU*)`. */
export function conditionText(conditions: Conditions | undefined): string {
  const { only, not } = conditionWords(conditions)
  const parts = [
    ...(only.length > 0 ? [`only ${listed(only)}`] : []),
    ...(not.length > 0 ? [`not ${either(not)}`] : []),
  ]
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

const percentText = (times: string): string =>
  `${figure(plainText(multiply(decimal(times), integer(100))))} %`

/** Writes a term without its sign. */
function termWords(term: Term, names: ReadonlyMap<string, string>, frame: Frame): string {
  if ('fixed' in term) {
    const amount = isNegative(decimal(term.fixed))
      ? plainText(negate(decimal(term.fixed)))
      : term.fixed
    return `${money(amount, frame.currency)} a ${frame.period}`
  }
  const times = decimal(('times' in term && term.times) || '1')
  const size = plainText(isNegative(times) ? negate(times) : times)
  const part = size === '1' ? '' : `${percentText(size)} of `
  if ('of' in term) {
    return `${part}${listed(term.of.map((name) => names.get(name) ?? name))}`
  }
  return `${part}${kindWords(term)}${conditionText(term.when)}`
}

const isDeduction = (term: Term): boolean =>
  isNegative(decimal('fixed' in term ? term.fixed : ((term as FactTerm).times ?? '1')))

/** Writes a base: `spread plus trading commission minus 20 % of trading commission`. */
export function baseWords(base: readonly Term[], frame: Frame): string {
  const names = new Map<string, string>()
  const words = base.map((term, i) => {
    const text = termWords(term, names, frame)
    if (term.name !== undefined) names.set(term.name, text)
    if (i === 0) return isDeduction(term) ? `minus ${text}` : text
    return `${isDeduction(term) ? 'minus' : 'plus'} ${text}`
  })
  return words.join(' ')
}

/** Names one unit: `lot traded`, `USD of traded volume`, `deposit`. */
function unitWords(unit: Unit, each: string | undefined): string {
  const many = each !== undefined && each !== '1'
  const size = many ? `${figure(each)} ` : ''
  if ('count' in unit) {
    const kind = unit.count
    const nouns = 'transactions' in kind ? kind.transactions.map(singular) : [`${kind.event} event`]
    const plurals =
      'transactions' in kind ? kind.transactions.map(pluralType) : [`${kind.event} events`]
    return many ? `${size}${either(plurals)}` : either(nouns)
  }
  if ('event' in unit) return `${many ? size : ''}${unit.kpi} of ${unit.event} events`
  if (unit.activity === 'lots_traded') return many ? `${size}lots traded` : 'lot traded'
  return many ? `${size}USD of traded volume` : 'USD of traded volume'
}

/** Names what a unit rule counts: `lots traded`, `deposits`. */
export function unitMeasure(unit: Unit): string {
  if ('count' in unit) return `number of ${kindWords(unit.count)}`
  return 'event' in unit ? kindWords(unit) : ACTIVITY[unit.activity]
}

const WINDOWS = { period: null, quarter: 'the quarter', lifetime: 'all time' } as const

/** Returns what the tiers of a rule measure. */
function measureWords({ by, over, window = 'period' }: Tiers, own: string, frame: Frame): string {
  const what =
    by === undefined
      ? own
      : 'once' in by
        ? `customers who qualified by the rule ${by.once}`
        : 'customers' in by
          ? 'active customers'
          : baseWords(by.base, frame)
  const whose = over === 'network' ? ' of the affiliate and all affiliates below' : ''
  return `${what}${whose} in ${WINDOWS[window] ?? `the ${frame.period}`}`
}

/** Returns the rate of a rule: `30 %`, `5.00 EUR`, or `3.00 to 7.00 EUR` if it has tiers. */
export function rateWords(rule: Rule, { currency }: Frame): string {
  const steps = rule.tiers?.steps
  if (steps) {
    const [first, last] = [steps[0], steps.at(-1)]
    const isPercent = first?.percent !== undefined
    const text = (value = '0'): string =>
      isPercent ? `${figure(value)} %` : money(value, currency)
    const [from, to] = [text(first?.percent ?? first?.amount), text(last?.percent ?? last?.amount)]
    return from === to ? from : `${from} to ${to}`
  }
  if ('percent' in rule && rule.percent !== undefined) return `${figure(rule.percent)} %`
  return money(('amount' in rule && rule.amount) || '0', currency)
}

/** Returns a sentence for the tiers of a rule. */
function tierSentences(rule: Rule, own: string, frame: Frame): string[] {
  const { tiers } = rule
  if (!tiers) return []
  const steps = tiers.steps.map(({ from, percent, amount }) => {
    const rate =
      percent === undefined ? money(amount ?? '0', frame.currency) : `${figure(percent)} %`
    return `${rate} from ${figure(from)}`
  })
  const mode =
    tiers.mode === 'whole'
      ? 'The step that is reached applies to all of it.'
      : 'Each part is paid at its own step.'
  return [`By the ${measureWords(tiers, own, frame)}: ${steps.join(', ')}. ${mode}`]
}

/** Returns what a trigger is: `makes a first deposit of at least 100 EUR`. */
export function triggerWords(trigger: Trigger, { currency }: Frame): string {
  if ('signup' in trigger) return 'signs up'
  const least = trigger.min === undefined ? '' : ` of at least ${money(trigger.min, currency)}`
  if ('event' in trigger) return `has a first ${trigger.event} event${least}`
  const verb = trigger.transactions.every((type) => /fee$/.test(type)) ? 'pays' : 'makes'
  return `${verb} a first ${either(trigger.transactions.map(singular))}${subtypesOf(trigger)}${least}`
}

/** What is said of a customer who meets a condition, and of one who meets its opposite. */
const OF_A_CUSTOMER: Readonly<Record<string, readonly [is: string, isNot: string]>> = {
  countries: ['is from', 'is not from'],
  account_types: ['has the account type', 'does not have the account type'],
  challenge_types: ['has the challenge', 'does not have the challenge'],
  phases: ['is in the phase', 'is not in the phase'],
  kyc: ['has the KYC status', 'does not have the KYC status'],
  sales: ['has the sales status', 'does not have the sales status'],
  links: ['came by the link', 'did not come by the link'],
} satisfies Record<CustomerListName, readonly [string, string]>

/** Says what a customer is who meets conditions: `is from DE and does not have the account type demo`. */
export function customerWords({ account_size, ...lists }: Conditions): string {
  const phrases = Object.entries(lists).map(([name, values]) => {
    const list = name.replace(/^not_/, '')
    const words = OF_A_CUSTOMER[list] ?? ['has', 'does not have']
    return `${words[name.startsWith('not_') ? 1 : 0]} ${either(valuesInWords(list, values ?? []))}`
  })
  const size = account_size ? [sizePhrase(account_size).replace(/^with/, 'has')] : []
  return listed([...phrases, ...size])
}

/** Returns whether a sum of terms is an amount of money: lots and volume are none. */
export const isMoney = (terms: readonly FactTerm[]): boolean =>
  terms.every((term) => !('activity' in term && /lots|volume/.test(term.activity)))

/** Writes a condition of `qualify`: `deposits reach 500 EUR within 30 days of the signup`. */
export function qualificationWords(one: Qualification, { currency }: Frame): string {
  if ('customer' in one) return `the customer ${customerWords(one.customer)}`
  const days =
    one.within_days === undefined ? '' : ` within ${counted(one.within_days, 'day')} of the signup`
  if ('count' in one) {
    const kind = one.count
    const noun = 'activity' in kind ? `days with ${ACTIVITY[kind.activity]}` : kindWords(kind)
    return `the customer has at least ${figure(String(one.min))} ${noun}${days}`
  }
  const terms = baseWords(one.sum, { currency, period: 'month' })
  const reach = isMoney(one.sum) ? money(one.min, currency) : figure(one.min)
  const at = one.at === 'end' ? ' and still do so when these days are over' : ''
  return `${terms} reach ${reach}${days}${at}`
}

/** Names the sum or the count of a requirement: `the sum of deposits within 30 days`. */
export function measuredWords(one: Exclude<Qualification, { customer: unknown }>): string {
  const days = one.within_days === undefined ? '' : ` within ${counted(one.within_days, 'day')}`
  if ('sum' in one) return `the sum of ${listed(one.sum.map(countedWords))}${days}`
  const kind = one.count
  const noun = 'activity' in kind ? `days with ${ACTIVITY[kind.activity]}` : kindWords(kind)
  return `the number of ${noun}${days}`
}

/** Returns what the parts of a rule are called that `max` limits. */
const perPeriod = ({ max }: Rule, { currency, period }: Frame): string[] =>
  max === undefined ? [] : [`At most ${money(max, currency)} a ${period} for each affiliate.`]

function whenSentences({ when, months }: Rule): string[] {
  const { only, not } = conditionWords(when)
  return [
    ...(only.length > 0 ? [`Only for ${listed(only)}.`] : []),
    ...(not.length > 0 ? [`Not for ${either(not)}.`] : []),
    ...(months === undefined
      ? []
      : [`Only in the first ${counted(months, 'month')} after a customer's signup.`]),
  ]
}

function onceWords(rule: OnceRule, frame: Frame): RuleWords {
  const { currency, period } = frame
  const { trigger, qualify = [], void_by, max_count, max_per_customer } = rule
  const rate = rateWords(rule, frame)
  const paid = rate.endsWith('%')
    ? `${rate} of the amount once for each customer`
    : `${rate} once for each customer`
  const conditions = [
    `the customer ${triggerWords(trigger, frame)}`,
    ...qualify.map((one) => qualificationWords(one, frame)),
  ]
  const least =
    rule.min_amount === undefined ? [] : [`at least ${money(rule.min_amount, currency)}`]
  const most = rule.max_amount === undefined ? [] : [`at most ${money(rule.max_amount, currency)}`]
  const bounds = [...least, ...most]
  return {
    id: rule.id,
    pays: `${paid}, when ${listed(conditions)}.`,
    limits: [
      ...(bounds.length === 0 ? [] : [`The amount is ${listed(bounds)}.`]),
      ...tierSentences(rule, 'number of these customers', frame),
      ...whenSentences(rule),
      ...(void_by
        ? [
            `It does not count if ${baseWords(void_by.terms, frame)} reach its amount within ${counted(void_by.within_days, 'day')}.`,
          ]
        : []),
      ...(rule.requalify ? ['If it is taken back, the next one counts.'] : []),
      ...(rule.grace_hours === undefined
        ? []
        : [`Records up to ${counted(rule.grace_hours, 'hour')} before the signup count.`]),
      ...(max_per_customer === undefined
        ? []
        : [`At most ${money(max_per_customer, currency)} for each customer.`]),
      ...(max_count === undefined
        ? []
        : [`At most ${counted(max_count, 'customer')} a ${period} for each affiliate.`]),
      ...perPeriod(rule, frame),
    ],
  }
}

const NEGATIVE_SHARE = {
  offset: 'A negative result is deducted from what other rules pay.',
  zero: 'A negative result counts as 0.',
  carry: 'A negative result is carried and set against later results of this rule.',
} as const

const PER = {
  affiliate: '',
  customer: ', for each customer apart',
  product: ', for each product apart',
} as const

function shareWords(rule: ShareRule, frame: Frame): RuleWords {
  const { currency } = frame
  const { per = 'affiliate', negative = 'offset', fence, recoups, max_per_customer } = rule
  const base = baseWords(rule.base, frame)
  return {
    id: rule.id,
    pays: `${rateWords(rule, frame)} of ${base}${PER[per]}.`,
    limits: [
      ...tierSentences(rule, base, frame),
      ...whenSentences(rule),
      NEGATIVE_SHARE[negative],
      ...(fence
        ? [
            `If the result of the affiliate is ${money(fence.affiliate, currency)} or less, losses of customers at ${money(fence.customer, currency)} or less are set apart: only later results of the same customer pay them back.`,
          ]
        : []),
      ...(recoups === undefined
        ? []
        : [`It pays only what exceeds the advance that the rule ${recoups} paid.`]),
      ...(max_per_customer === undefined
        ? []
        : [`At most ${money(max_per_customer, currency)} for each customer.`]),
      ...perPeriod(rule, frame),
    ],
  }
}

const unitRuleWords = (rule: UnitRule, frame: Frame): RuleWords => ({
  id: rule.id,
  pays: `${rateWords(rule, frame)} for each ${unitWords(rule.unit, rule.each)}.`,
  limits: [
    ...tierSentences(rule, unitMeasure(rule.unit), frame),
    ...whenSentences(rule),
    ...perPeriod(rule, frame),
  ],
})

const KINDS = { once: 'CPA', share: 'revenue share', unit: 'volume' } as const

function overrideWords(rule: OverrideRule, frame: Frame): RuleWords {
  const { of, level, funded_by, negative } = rule
  const whose =
    level === 1 ? 'the affiliates directly below' : `the affiliates ${level} levels below`
  const rate = rateWords(rule, frame)
  const pays =
    'lines' in of
      ? `${rate} of what ${whose} earn by ${listed(of.lines.map((kind) => KINDS[kind]))}.`
      : 'base' in of
        ? `${rate} of ${baseWords(of.base, frame)} of the customers of ${whose}.`
        : 'unit' in of
          ? `${rate} for each ${unitWords(of.unit, rule.each)} of the customers of ${whose}.`
          : `${rate} for each customer who qualifies for ${whose} by the rule ${of.once}.`
  return {
    id: rule.id,
    pays,
    limits: [
      ...tierSentences(rule, 'sum that this is paid for', frame),
      ...whenSentences(rule),
      ...(negative === 'offset' ? ['A negative sum is deducted.'] : []),
      ...(funded_by === 'downline'
        ? ['The affiliate below pays it: the same amount is deducted there.']
        : []),
      ...perPeriod(rule, frame),
    ],
  }
}

/** Returns a rule in words. Amounts are in the plan's currency. */
export function ruleWords(rule: Rule, frame: Frame): RuleWords {
  switch (rule.kind) {
    case 'once':
      return onceWords(rule, frame)
    case 'share':
      return shareWords(rule, frame)
    case 'unit':
      return unitRuleWords(rule, frame)
    case 'override':
      return overrideWords(rule, frame)
  }
}

/** Returns the terms of a plan that are not rules, each as a sentence. */
export function termsWords(terms: PlanTerms): string[] {
  const { currency, period, negative, minimum_payout, hold_days } = terms
  return [
    `Statements are for a ${period} each, in ${currency}.`,
    terms.terms === 'signup'
      ? 'A customer keeps the version that was in force at the signup.'
      : `The version in force on the first day of a ${period} governs all customers.`,
    negative === 'carry'
      ? `A negative balance is carried into the next ${period}.`
      : 'A negative balance is written off.',
    ...(decimal(minimum_payout).units === 0n
      ? []
      : [`A balance below ${money(minimum_payout, currency)} waits for a later ${period}.`]),
    hold_days === 0
      ? `It is payable when the ${period} ends.`
      : `It is payable ${counted(hold_days, 'day')} after the ${period} ends.`,
  ]
}
