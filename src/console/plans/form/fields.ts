import type { ListName } from '../../../commission/engine/plan.ts'
import { ALL_MODIFIERS } from '../../../commission/modifiers/order.ts'
import { FACT_CONDITIONS } from '../../../commission/plans/conditions.ts'
import { DECIMAL } from '../../../commission/plans/decimals.ts'
import { planTerms, rule } from '../../../commission/plans/plan.ts'
import { describe, partsOf, type Schema } from '../../../pages/parts/schema.ts'

// What the form of a plan has: the members of its schema, with the words that people have for them.

/** A choice and its words. */
export type Choice = readonly [value: string, label: string]

interface Named {
  readonly label: string
  readonly hint?: string | undefined
  /** An example, or what holds if the field is empty. */
  readonly placeholder?: string | undefined
  /** Whether it is folded while it is empty. */
  readonly isFolded?: true | undefined
  /** Offered only where this condition can hold for some record. */
  readonly condition?: string
  /** Whether the JSON must have it: of a choice, the first one otherwise holds if nothing is chosen. */
  readonly isRequired?: boolean
}

/** A field whose value is one text, number or list of the JSON. */
export type Atom = Named & {
  /** The list whose values the browser proposes. */
  readonly offer?: string
} & (
    | { readonly is: 'text' | 'amount' | 'percent' | 'whole' | 'day' | 'flag' | 'times' }
    // Countries have their codes in the JSON, and their names in the form.
    | { readonly is: 'list'; readonly of?: 'countries' }
    | { readonly is: 'choice' | 'ticks'; readonly options: readonly Choice[] }
  )

/** Members that are shown together. */
export interface Group extends Named {
  readonly is: 'group'
  readonly members: Members
  /** The title above those that are folded. */
  readonly more?: string
}

/** A list whose entries people add and remove. */
export interface EntryList extends Named {
  readonly is: 'rows'
  /** The word for one entry, such as `tier`. */
  readonly one: string
  readonly item: Field
  /** The field of an entry that has its name, if the JSON has an object of entries instead of a list. */
  readonly key?: string
}

/** A member of one of several forms: each is known by the one member that has its name. */
export interface OneOf extends Named {
  readonly is: 'oneOf'
  readonly forms: Readonly<Record<string, Form>>
  /** The words for no form; absent if there must be one. */
  readonly none?: string | undefined
}

/** One of several forms. */
export interface Form {
  readonly label: string
  readonly members: Members
  /** The member that alone is this form, if it has no fields. */
  readonly fixed?: Readonly<Record<string, unknown>>
}

/** A field of the form, or several. */
export type Field = Atom | Group | EntryList | OneOf

/** Fields by the names of their members. */
export type Members = Readonly<Record<string, Field>>

/** The conditions by their names in the JSON, without `not_`: their words, and an example. */
const CONDITIONS: Readonly<Record<string, readonly [label: string, example: string]>> = {
  countries: ['Country', 'Germany, AT'],
  account_types: ['Account type', 'ECN, Standard'],
  challenge_types: ['Challenge', 'rapid'],
  phases: ['Phase', 'funded'],
  kyc: ['KYC status', 'verified'],
  sales: ['Sales status', 'hot'],
  links: ['Link', 'Lk7Qm2Xv'],
  instruments: ['Instrument', 'EURUSD*, XAU*'],
  products: ['Product', 'casino'],
  currencies: ['Currency of the record', 'EUR, USD'],
  subtypes: ['Kind of transaction', 'card'],
} satisfies Record<ListName, readonly [string, string]>

/** The bounds of the size of accounts. */
const SIZE: Members = {
  min: { is: 'amount', label: 'Account size is at least' },
  max: { is: 'amount', label: 'Account size is at most' },
}

/** Returns the field of a condition. */
function conditionField(name: string): Field {
  const condition = name.replace(/^not_/, '')
  const shared = { condition, isFolded: true } as const
  const [label, example] = CONDITIONS[condition] ?? []
  if (!label) return { ...shared, is: 'group', label: 'Account size', members: SIZE }
  return {
    ...{ ...shared, is: 'list', offer: condition, placeholder: `such as ${example}` },
    label: `${label} is${name === condition ? '' : ' not'}`,
    ...(condition === 'countries' && { of: condition }),
  }
}

/** The words of a member, and what its schema does not say of its field. */
interface MemberWords extends Omit<Named, 'isRequired'> {
  readonly is?: 'day' | 'ticks' | 'whole'
  /** The choices; of those without a value, the first one is what holds if nothing is chosen. */
  readonly choices?: Readonly<Record<string, string>>
  /** Of a list: the words for one entry, and for what it is. */
  readonly one?: string
  readonly item?: string
  readonly none?: string
  /** Conditions on records are not offered. */
  readonly ofCustomers?: true
}

const PART = { one: 'part', item: 'What is added up' }

/**
 * The words of members in the order of the form. The name of a member that means several things stands behind that of
 * what it is in: a member or its form, a kind of rule, `rule` or `plan`.
 */
const WORDS: Readonly<Record<string, MemberWords>> = {
  'plan.name': { label: 'Name' },
  currency: { label: 'Currency', placeholder: 'such as EUR' },
  period: { label: 'Statements for each', choices: { month: 'Month', week: 'Week' } },
  effective_from: { label: 'From', is: 'day' },
  'plan.terms': {
    label: 'A new version is for',
    choices: { signup: 'New customers', current: 'All customers' },
  },
  'plan.negative': {
    label: 'A negative balance',
    choices: { carry: 'Is carried over', zero: 'Is written off' },
  },
  minimum_payout: { label: 'Smallest payout', hint: 'A lower balance waits.' },
  hold_days: { label: 'Days until it is payable', hint: 'After the period ends.' },

  id: { label: 'Name of the rule', hint: 'Keep it in later versions.' },
  level: { label: 'Levels below', hint: '1 for those directly below.' },
  trigger: { label: 'When a customer' },
  unit: { label: 'For each' },
  'override.of': { label: 'Of' },
  lines: {
    label: 'By',
    choices: { once: 'Payments for customers', share: 'Shares', unit: 'Units' },
  },
  'steps.from': { label: 'From' },
  'steps.percent': { label: 'Pays percent' },
  'steps.amount': { label: 'Pays amount' },
  amount: { label: 'Amount' },
  percent: { label: 'Percentage', placeholder: 'such as 25 %' },
  tiers: { label: 'Tiers' },
  'share.base': { label: 'Of', ...PART },
  qualify: { label: 'The customer must also', one: 'requirement', item: 'Requirement' },
  'rule.when': { label: 'Only for' },
  each: { label: 'Units for one amount', placeholder: '1', isFolded: true },
  months: { label: 'Months after the signup', placeholder: 'no limit', isFolded: true },
  per: {
    label: 'Computed for each',
    choices: { affiliate: 'Affiliate', customer: 'Customer', product: 'Product' },
    isFolded: true,
  },
  void_by: { label: 'Taken back', isFolded: true },
  'void_by.terms': { label: 'If these reach the amount', ...PART },
  'void_by.within_days': { label: 'Within days' },
  requalify: { label: 'Can qualify again', isFolded: true },
  grace_hours: { label: 'Hours before the signup', placeholder: '24', isFolded: true },
  ...Object.assign({}, ...ALL_MODIFIERS.map(({ fields }) => fields)),
  'override.negative': {
    label: 'A negative sum',
    choices: { zero: 'Counts as 0', offset: 'Is deducted' },
    isFolded: true,
  },
  funded_by: {
    label: 'Paid by',
    choices: { operator: 'The company', downline: 'The affiliate below' },
    isFolded: true,
  },

  steps: { label: 'Steps', one: 'step', item: 'Tier', hint: 'The first begins at 0.' },
  mode: {
    label: 'The step that is reached',
    choices: { whole: 'Applies to all of it', slice: 'Applies to the part above it' },
  },
  by: { label: 'Measured by', none: 'What the rule pays for', isFolded: true },
  over: {
    label: 'Of',
    choices: { own: 'The affiliate alone', network: 'The affiliate and all below' },
    isFolded: true,
  },
  window: {
    label: 'In',
    choices: {
      period: 'The period of the statement',
      quarter: 'The quarter',
      lifetime: 'All time',
    },
    isFolded: true,
  },

  sum: { label: 'What is added up', ...PART },
  base: { label: 'What is added up', ...PART },
  transactions: { label: 'Transactions', is: 'ticks' },
  subtypes: { label: 'Only of the kinds', placeholder: 'all kinds', isFolded: true },
  activity: {
    label: 'Figure',
    choices: {
      lots_traded: 'Lots traded',
      volume_usd: 'Traded volume in USD',
      spread_cost: 'Spread',
      commission: 'Trading commission',
      pnl: 'Profit and loss of customers',
    },
  },
  event: { label: 'Event', placeholder: 'such as Deposit' },
  kpi: { label: 'Figure of the event', placeholder: 'such as Value' },
  of: { label: 'Names of the parts' },
  fixed: { label: 'Amount', hint: 'A negative one is deducted.' },
  times: { label: 'Counts', placeholder: '100 %' },
  when: { label: 'Only if', isFolded: true },
  name: { label: 'Name', hint: 'Only needed if a later part names this one.', isFolded: true },
  count: { label: 'What is counted' },
  'trigger.min': { label: 'Smallest amount', hint: 'Of that one record.' },
  'sum.min': { label: 'Sum to reach' },
  'count.min': { label: 'Number to reach', is: 'whole' },
  within_days: { label: 'Days after the signup', placeholder: 'no limit' },
  at: {
    label: 'Checked',
    choices: { first: 'As soon as it is reached', end: 'When these days are over' },
    isFolded: true,
  },
  customer: { label: 'The customer', ofCustomers: true },
  'by.once': { label: 'Rule' },
  once: { label: 'By the rule' },
}

/** The words of forms; behind the name of a member, what a form is called there. */
const FORMS: Readonly<Record<string, string>> = {
  transactions: 'Transactions',
  activity: 'Trading activity',
  event: 'Events',
  of: 'A percentage of parts above',
  fixed: 'A fixed amount each period',
  'trigger.transactions': 'Makes a first transaction',
  'trigger.event': 'Has a first event',
  signup: 'Signs up',
  sum: 'Reach a sum',
  'qualify.count': 'Have a number of records',
  customer: 'Be one of these customers',
  'count.activity': 'Days with trading activity',
  'unit.activity': 'Lots or volume',
  'unit.event': 'Figure of events',
  'unit.count': 'Number of records',
  'by.once': 'Customers who qualified by a rule',
  customers: 'Active customers',
  'by.base': 'Another sum',
  lines: 'What they earn',
  'of.base': 'A sum of their customers',
  'of.unit': 'Units of their customers',
  'of.once': 'Their customers who qualify',
}

const ORDER = Object.keys(WORDS)

/** Returns the name under which a table has something, which may mean other things elsewhere. */
const keyIn = (table: object, name: string, parents: readonly string[]): string =>
  parents.map((parent) => `${parent}.${name}`).find((key) => Object.hasOwn(table, key)) ?? name

/** Returns the fields of the members of an object in the order of their words, but for some. */
function membersOf(
  entries: Readonly<Record<string, Schema>>,
  parents: readonly string[],
  without: readonly string[],
): Members {
  const members = Object.entries(entries).flatMap(([name, schema]) => {
    const key = keyIn(WORDS, name, parents)
    return without.includes(name)
      ? []
      : [{ at: ORDER.indexOf(key), entry: [name, fieldOf(schema, key, name, without)] as const }]
  })
  return Object.fromEntries(members.sort((a, b) => a.at - b.at).map(({ entry }) => entry))
}

/** Returns the only value that a schema allows; undefined if there are several. */
function onlyValue(schema: Schema | undefined): unknown {
  const { choices = [] } = schema ? describe(schema) : {}
  return schema?.literal ?? (choices.length === 1 ? choices[0] : undefined)
}

/** Returns the field of an object, or of one of several forms of it; null of anything else. */
function objectField(
  { forms, entries }: Schema,
  name: string,
  { ofCustomers, none, ...named }: MemberWords,
  without: readonly string[],
): Group | OneOf | null {
  if (forms) {
    const all = Object.entries(forms).map(([form, { entries: own = {} }]): [string, Form] => {
      const label = FORMS[keyIn(FORMS, form, [name])] ?? form
      const only = onlyValue(own[form])
      return [
        form,
        only === undefined
          ? { label, members: membersOf(own, [form, name], without) }
          : { label, members: {}, fixed: { [form]: only } },
      ]
    })
    return { ...named, is: 'oneOf', none, forms: Object.fromEntries(all) }
  }
  if (!entries) return null
  if (!Object.hasOwn(entries, 'account_size')) {
    return { ...named, is: 'group', members: membersOf(entries, [name], without) }
  }
  const conditions = Object.keys(entries).filter((one) => !ofCustomers || !FACT_CONDITIONS.has(one))
  const members = Object.fromEntries(conditions.map((one) => [one, conditionField(one)]))
  return { ...named, is: 'group', members, more: 'Conditions' }
}

/** Returns the field of a member. */
function fieldOf(schema: Schema, key: string, name: string, without: readonly string[]): Field {
  const words = WORDS[key]
  if (!words) throw new Error(`The form of plans has no words for ${key}.`)
  const { is, choices = {}, one = '', item = '', ...shown } = words
  const inner = schema.wrapped ?? schema
  const object = objectField(inner, name, shown, without)
  if (object) return object
  const named = { ...shown, isRequired: inner === schema, offer: name }
  const entry = inner.item && objectField(inner.item, name, { label: item }, without)
  if (entry) return { ...named, is: 'rows', one, item: entry }
  const { choices: known, isList, type } = describe(inner)
  const options = Object.entries(choices).filter(([value]) => known.includes(value))
  if (is === 'ticks' || (isList && options.length > 0)) return { ...named, is: 'ticks', options }
  if (isList) return { ...named, is: 'list' }
  if (name === 'percent' || name === 'times') return { ...named, is: name }
  if (type === 'boolean') return { ...named, is: 'flag' }
  if (options.length > 0) return { ...named, is: 'choice', options }
  if (is) return { ...named, is }
  if (type === 'number') return { ...named, is: 'whole' }
  const isDecimal = partsOf(inner).some(({ requirement }) => requirement === DECIMAL)
  return { ...named, is: isDecimal ? 'amount' : 'text' }
}

/** The members of which a rule has one: its rate. */
const RATES = { amount: 'A fixed amount', percent: 'A percentage', tiers: 'By tiers' } as const

/** A kind of rule: its members, and which of them are its rate. */
export interface RuleKind {
  readonly label: string
  readonly add: string
  readonly pays: readonly Choice[]
  readonly members: Members
}

/** The kinds of rules in words, in the order in which the form offers them. */
const KINDS = {
  once: {
    label: 'Pays once for a customer',
    add: 'once for a customer',
    pays: ['amount', 'percent', 'tiers'],
  },
  share: {
    label: 'Pays a share',
    add: 'a share of what customers bring',
    pays: ['percent', 'tiers'],
  },
  unit: { label: 'Pays for each unit', add: 'for each lot or record', pays: ['amount', 'tiers'] },
  override: {
    label: 'Pays for affiliates below',
    add: 'for affiliates below',
    pays: ['percent', 'amount', 'tiers'],
  },
} as const

/** The kinds of rules, in the order in which the form offers them. */
export const RULE_KINDS: Readonly<Record<string, RuleKind>> = Object.fromEntries(
  rule.options.map(({ entries: { kind, ...entries } }): [string, RuleKind] => {
    const words = KINDS[kind.literal]
    const pays = words.pays.map((name) => [name, RATES[name]] as const)
    const without = Object.keys(RATES).filter((name) => !Object.hasOwn(entries, name))
    const members = membersOf(entries, [kind.literal, 'rule'], without)
    return [kind.literal, { ...words, pays, members }]
  }),
)

const { rules: _, ...entries } = planTerms.entries

/** The members of a plan beside its rules. */
export const PLAN_MEMBERS: Members = membersOf(entries, ['plan'], [])
