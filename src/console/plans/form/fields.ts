import { FACT_CONDITIONS } from '../../../commission/plans/conditions.ts'
import { DECIMAL } from '../../../commission/plans/decimals.ts'
import { ALL_MODIFIERS } from '../../../commission/plans/modifiers/order.ts'
import { planTerms } from '../../../commission/plans/plan.ts'
import { titleOf } from '../../../pages/parts/data.tsx'
import { describe, partsOf, type Schema, type Schemas } from '../../../pages/parts/schema.ts'

// What the form of a plan has: the members of its schema, with the words that people have for them.

/** A choice and its words. */
export type Choice = readonly [value: string, label: string]

interface Named {
  readonly label: string
  readonly hint?: string | undefined
  /** An example, or what holds if the field is empty. */
  readonly placeholder?: string | undefined
  /** Whether it is folded while it is empty. */
  readonly isFolded?: boolean
  /** Whether the JSON must have it: of a choice, the first one otherwise holds if nothing is chosen. */
  readonly isRequired?: boolean
}

/** A field whose value is one text, number or list of the JSON. */
export type Atom = Named & {
  /** The list whose values the browser proposes. */
  readonly offer?: string
} & (
    | { readonly is: 'text' | 'amount' | 'percent' | 'whole' | 'day' | 'flag' | 'list' }
    | { readonly is: 'choice' | 'ticks'; readonly options: readonly Choice[] }
  )

/** Members that are shown together. */
export interface Group extends Named {
  readonly is: 'group'
  readonly members: Members
}

/** A list whose entries people add and remove. */
export interface EntryList extends Named {
  readonly is: 'rows'
  /** The word for one entry, such as `tier`. */
  readonly one: string
  readonly item: Group | OneOf
}

/** An object of one of several forms. */
export interface OneOf extends Named {
  readonly is: 'oneOf'
  readonly forms: Readonly<Record<string, Form>>
  /** The member whose value names the form; if absent, each form is known by the one member that has its name. */
  readonly tag?: string
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

/** The words of a member, and what its schema does not say of its field. */
interface MemberWords {
  /** If absent, it is made from the name. */
  readonly label?: string
  readonly hint?: string
  readonly placeholder?: string
  readonly is?: 'day' | 'ticks' | 'whole'
  /** The choices; of those without a value, the first one is what holds if nothing is chosen. */
  readonly choices?: Readonly<Record<string, string>>
  /** Of a list: the word for one entry. */
  readonly one?: string
}

/**
 * The words of members. The name of a member that means several things stands behind that of what it is in: a member
 * or its form, a kind of rule, `rule` or `plan`.
 */
const WORDS: Readonly<Record<string, MemberWords>> = {
  'plan.name': { label: 'Name' },
  currency: { placeholder: 'such as EUR' },
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
  rules: { one: 'rule' },
  id: { label: 'Name of the rule', hint: 'Keep it in later versions.' },
  level: { label: 'Levels below', hint: '1 for those directly below.' },
  trigger: { label: 'When a customer' },
  unit: { label: 'For each' },
  'override.of': { label: 'Of' },
  lines: {
    label: 'By',
    choices: { once: 'Payments for customers', share: 'Shares', unit: 'Units' },
  },
  amount: { hint: 'Or a percentage or tiers.' },
  percent: { label: 'Percentage', placeholder: 'such as 25' },
  'steps.percent': { label: 'Percentage' },
  'steps.amount': { label: 'Amount' },
  'share.base': { label: 'Of', one: 'part' },
  qualify: { label: 'The customer must also', one: 'requirement' },
  'rule.when': { label: 'Only for' },
  each: { label: 'Units for one amount', placeholder: '1' },
  months: { label: 'Months after the signup', placeholder: 'no limit' },
  per: {
    label: 'Computed for each',
    choices: { affiliate: 'Affiliate', customer: 'Customer', product: 'Product' },
  },
  void_by: { label: 'Taken back' },
  'void_by.terms': { label: 'If these reach the amount', one: 'part' },
  'void_by.within_days': { label: 'Within days' },
  requalify: { label: 'Can qualify again' },
  grace_hours: { label: 'Hours before the signup', placeholder: '24' },
  ...Object.assign({}, ...ALL_MODIFIERS.map(({ fields }) => fields)),
  'override.negative': {
    label: 'A negative sum',
    choices: { zero: 'Counts as 0', offset: 'Is deducted' },
  },
  funded_by: {
    label: 'Paid by',
    choices: { operator: 'The company', downline: 'The affiliate below' },
  },
  steps: { one: 'step', hint: 'The first begins at 0.' },
  mode: {
    label: 'The step that is reached',
    choices: { whole: 'Applies to all of it', slice: 'Applies to the part above it' },
  },
  by: { label: 'Measured by', hint: 'If empty, by what the rule pays for.' },
  over: {
    label: 'Of',
    choices: { own: 'The affiliate alone', network: 'The affiliate and all below' },
  },
  window: {
    label: 'In',
    choices: {
      period: 'The period of the statement',
      quarter: 'The quarter',
      lifetime: 'All time',
    },
  },
  sum: { label: 'What is added up', one: 'part' },
  base: { label: 'What is added up', one: 'part' },
  transactions: { is: 'ticks' },
  subtypes: { label: 'Only of the kinds', placeholder: 'all kinds' },
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
  event: { placeholder: 'such as Deposit' },
  kpi: { label: 'Figure of the event', placeholder: 'such as Value' },
  of: { label: 'Names of the parts' },
  fixed: { label: 'Amount', hint: 'A negative one is deducted.' },
  times: { label: 'Counts times', placeholder: '1', hint: '-1 deducts it, 0.5 counts half.' },
  when: { label: 'Only if' },
  name: { label: 'Name', hint: 'Only needed if a later part names this one.' },
  count: { label: 'What is counted' },
  'trigger.min': { label: 'Smallest amount', hint: 'Of that one record.' },
  'sum.min': { label: 'Sum to reach' },
  'count.min': { label: 'Number to reach', is: 'whole' },
  within_days: { label: 'Days after the signup', placeholder: 'no limit' },
  at: {
    label: 'Checked',
    choices: { first: 'As soon as it is reached', end: 'When these days are over' },
  },
  customer: { label: 'The customer' },
  'by.once': { label: 'Rule' },
  once: { label: 'By the rule' },
  account_size: { label: 'Account size in USD' },
  kyc: { label: 'KYC status' },
  sales: { label: 'Sales status' },
  'account_size.min': { label: 'At least' },
  'account_size.max': { label: 'At most' },
  'when.subtypes': { label: 'Kinds of transactions' },
}

/** The optional members that are shown before the others, in this order. The others are folded while they are empty. */
const SHOWN = ['amount', 'percent', 'qualify', 'rule.when', 'trigger.min', 'kpi', 'within_days']

/** The words of forms; behind the name of a member, what a form is called there. */
const FORMS: Readonly<Record<string, string>> = {
  'rules.once': 'Pays once for a customer',
  'rules.share': 'Pays a share of what customers bring',
  'rules.unit': 'Pays for each lot or record',
  'rules.override': 'Pays for affiliates below',
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

/** Returns the name under which a table has something, which may mean other things elsewhere. */
const keyIn = (has: (key: string) => boolean, name: string, parents: readonly string[]): string =>
  parents.map((parent) => `${parent}.${name}`).find(has) ?? name

/** Returns the fields of the members of an object: those that it must have, those that it can have, and the folded ones. */
function membersOf(
  entries: Readonly<Record<string, Schema>>,
  parents: readonly string[],
  isCustomer = false,
): Members {
  const members = Object.entries(entries).flatMap(([name, schema]) => {
    const has = (key: string) => SHOWN.includes(key) || Object.hasOwn(WORDS, key)
    const key = keyIn(has, name.replace(/^not_/, ''), parents)
    if (name === 'kind' || (isCustomer && FACT_CONDITIONS.has(name))) return []
    const isRequired = schema.type !== 'exact_optional'
    const at = isRequired ? -1 : SHOWN.indexOf(key)
    const isFolded = !isRequired && at < 0
    const field = { ...fieldOf(schema, key, name), isRequired, isFolded }
    return [{ at: isFolded ? SHOWN.length : at, entry: [name, field] as const }]
  })
  return Object.fromEntries(members.sort((a, b) => a.at - b.at).map(({ entry }) => entry))
}

/** Returns the only value that a schema allows; undefined if there are several. */
function onlyValue(schema: Schema | undefined): unknown {
  const { choices = [] } = schema ? describe(schema) : {}
  return schema?.literal ?? (choices.length === 1 ? choices[0] : undefined)
}

/** Returns the forms of an object that is one of several, and what they are known by; null of anything else. */
function formsOf({ forms, options, type }: Schema): {
  readonly forms?: Schemas | undefined
  readonly tag?: string
} {
  if (type !== 'variant') return { forms }
  const all = (options as Schema[]).map((one) => [one.entries?.kind?.literal, one])
  return { tag: 'kind', forms: Object.fromEntries(all) }
}

/** Returns the field of an object, or of one of several forms of it; null of anything else. */
function objectField(schema: Schema, name: string, label: string): Group | OneOf | null {
  const { forms, tag } = formsOf(schema)
  if (!forms) {
    if (!schema.entries) return null
    return { label, is: 'group', members: membersOf(schema.entries, [name], name === 'customer') }
  }
  const all = Object.entries(forms).map(([form, { entries = {} }]): [string, Form] => {
    const words = FORMS[keyIn((key) => Object.hasOwn(FORMS, key), form, [name])] ?? titleOf(form)
    const only = onlyValue(entries[form])
    if (only !== undefined) return [form, { label: words, members: {}, fixed: { [form]: only } }]
    return [form, { label: words, members: membersOf(entries, [form, tag ? 'rule' : name]) }]
  })
  return { label, is: 'oneOf', forms: Object.fromEntries(all), ...(tag && { tag }) }
}

/** Returns the field of a member. */
function fieldOf(schema: Schema, key: string, name: string): Field {
  const { is, choices = {}, one = '', ...shown } = WORDS[key] ?? {}
  const isNot = name.startsWith('not_')
  const label = `${shown.label ?? titleOf(key)}${isNot ? ', but not' : ''}`
  const named = { ...shown, label, offer: name }
  const inner = schema.wrapped ?? schema
  const object = objectField(inner, name, label)
  if (object) return { ...named, ...object }
  const entry = inner.item && objectField(inner.item, name, label)
  if (entry) return { ...named, is: 'rows', one, item: entry }
  const { choices: known, isList, type } = describe(inner)
  const options = Object.entries(choices).filter(([value]) => known.includes(value))
  if (is === 'ticks' || (isList && options.length > 0)) return { ...named, is: 'ticks', options }
  if (isList) return { placeholder: 'separated by commas', ...named, is: 'list' }
  if (name === 'percent') return { ...named, is: 'percent' }
  if (type === 'boolean') return { ...named, is: 'flag' }
  if (options.length > 0) return { ...named, is: 'choice', options }
  if (is) return { ...named, is }
  if (type === 'number') return { ...named, is: 'whole' }
  const isDecimal = partsOf(inner).some(({ requirement }) => requirement === DECIMAL)
  return { ...named, is: isDecimal ? 'amount' : 'text' }
}

let made: Members | undefined

/** Returns the members of a plan, made at the first call: each start of the Worker would pay for them. */
export function planMembers(): Members {
  made ??= membersOf(planTerms.entries, ['plan'])
  return made
}
