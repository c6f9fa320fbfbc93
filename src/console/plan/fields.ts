import type { ListName } from '../../commission/engine/plan.ts'

// What the form of a plan has: each member of the JSON with the words that people have for it.

/** What the account has for a field; the form offers it. */
export type Offer =
  | 'currencies'
  | 'transactions'
  | 'subtypes'
  | 'activity'
  | 'events'
  | 'kpis'
  | 'onceRules'
  | 'terms'
  | 'affiliates'
  | 'challenges'

/** A choice and its words. */
export type Choice = readonly [value: string, label: string]

interface Named {
  readonly label: string
  readonly hint?: string
  /** An example, or what holds if the field is empty. */
  readonly placeholder?: string
}

/** A field whose value is one text, number or list of the JSON. */
export type Atom = Named &
  (
    | { readonly is: 'text'; readonly offer?: Offer }
    | {
        readonly is: 'list'
        readonly offer?: Offer
        /** Countries have their codes in the JSON, and their names in the form. */
        readonly of?: 'countries'
      }
    | { readonly is: 'amount' | 'percent' | 'whole' | 'day' | 'flag' | 'times' }
    | { readonly is: 'choice'; readonly options: readonly Choice[]; readonly offer?: Offer }
    | { readonly is: 'ticks'; readonly options: readonly Choice[]; readonly offer?: Offer }
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
  readonly item: Field
  /** The field of an entry that has its name, if the JSON has an object of entries instead of a list. */
  readonly key?: string
}

/** A member of one of several forms: each is known by the one member that has its name. */
export interface OneOf extends Named {
  readonly is: 'oneOf'
  readonly forms: Readonly<Record<string, Form>>
  /** The words for no form; absent if there must be one. */
  readonly none?: string
}

/** One of several forms. */
export interface Form {
  readonly label: string
  readonly members: Members
  /** The member that alone is this form, if it has no fields. */
  readonly fixed?: Readonly<Record<string, unknown>>
}

/** Conditions, each of which is a row of the form and a member of the JSON. */
export interface When extends Named {
  readonly is: 'when'
  /** Whether conditions on records are offered, too. */
  readonly ofRecords: boolean
}

/** A field of the form, or several. */
export type Field = Atom | Group | EntryList | OneOf | When

/** Fields by the names of their members. */
export type Members = Readonly<Record<string, Field>>

/** What the form has for a condition. */
interface ConditionField {
  readonly label: string
  readonly ofRecord?: true
  readonly example: string
}

/** The conditions by their names in the JSON, without `not_`, with the words before their values. */
export const CONDITIONS: Readonly<Record<string, ConditionField>> = {
  countries: { label: 'Country', example: 'Germany, AT' },
  account_types: { label: 'Account type', example: 'ECN, Standard' },
  challenge_types: { label: 'Challenge', example: 'rapid' },
  phases: { label: 'Phase', example: 'funded' },
  kyc: { label: 'KYC status', example: 'verified' },
  sales: { label: 'Sales status', example: 'hot' },
  links: { label: 'Link', example: 'Lk7Qm2Xv' },
  instruments: { label: 'Instrument', ofRecord: true, example: 'EURUSD*, XAU*' },
  products: { label: 'Product', ofRecord: true, example: 'casino' },
  currencies: { label: 'Currency of the record', ofRecord: true, example: 'EUR, USD' },
  subtypes: { label: 'Kind of transaction', ofRecord: true, example: 'card' },
} satisfies Record<ListName, ConditionField>

/** The bounds of the size of accounts, which are conditions with one amount. */
export const SIZES: readonly Choice[] = [
  ['account_size/min', 'Account size is at least'],
  ['account_size/max', 'Account size is at most'],
]

const ACTIVITY: readonly Choice[] = [
  ['lots_traded', 'Lots traded'],
  ['volume_usd', 'Traded volume in USD'],
  ['spread_cost', 'Spread'],
  ['commission', 'Trading commission'],
  ['pnl', 'Profit and loss of customers'],
]

const only = (...names: readonly string[]): readonly Choice[] =>
  ACTIVITY.filter(([name]) => names.includes(name))

const transactions: Atom = {
  is: 'ticks',
  label: 'Transactions',
  options: [],
  offer: 'transactions',
}
const subtypes: Atom = {
  is: 'list',
  label: 'Only of the kinds',
  offer: 'subtypes',
  placeholder: 'all kinds',
}
const event: Atom = { is: 'text', label: 'Event', offer: 'events', placeholder: 'such as Deposit' }
const kpi: Atom = {
  is: 'text',
  label: 'Figure of the event',
  offer: 'kpis',
  placeholder: 'such as Value',
}
const activity: Atom = {
  is: 'choice',
  label: 'Figure',
  options: ACTIVITY,
  offer: 'activity',
}
const when: When = { is: 'when', label: 'Only if', ofRecords: true }
const times: Atom = { is: 'times', label: 'Counts' }
const termName: Atom = {
  is: 'text',
  label: 'Name',
  hint: 'Only needed if a later part names this one.',
}

const OPTIONS: Members = { times, when, name: termName }

/** The parts of a sum that count records. */
const FACTS: Readonly<Record<string, Form>> = {
  transactions: {
    label: 'Transactions',
    members: { transactions, subtypes, ...OPTIONS },
  },
  activity: {
    label: 'Trading activity',
    members: { activity: { ...activity, options: ACTIVITY.slice(1) }, ...OPTIONS },
  },
  event: { label: 'Events', members: { event, kpi, ...OPTIONS } },
}

const factRows = (label: string): EntryList => ({
  is: 'rows',
  label,
  one: 'part',
  item: { is: 'oneOf', label: 'What is added up', forms: FACTS },
})

const baseRows = (label: string): EntryList => ({
  is: 'rows',
  label,
  one: 'part',
  item: {
    is: 'oneOf',
    label: 'What is added up',
    forms: {
      ...FACTS,
      of: {
        label: 'A percentage of parts above',
        members: {
          of: { is: 'list', label: 'Names of the parts', offer: 'terms' },
          times,
          name: termName,
        },
      },
      fixed: {
        label: 'A fixed amount each period',
        members: {
          fixed: { is: 'amount', label: 'Amount', hint: 'A negative one is deducted.' },
          name: termName,
        },
      },
    },
  },
})

const countForms = {
  transactions: { label: 'Transactions', members: { transactions, subtypes } },
  event: { label: 'Events', members: { event, kpi } },
} as const

const unit: OneOf = {
  is: 'oneOf',
  label: 'For each',
  forms: {
    activity: {
      label: 'Lots or volume',
      members: { activity: { ...activity, options: only('lots_traded', 'volume_usd') } },
    },
    event: { label: 'Figure of events', members: { event, kpi } },
    count: {
      label: 'Number of records',
      members: { count: { is: 'oneOf', label: 'What is counted', forms: countForms } },
    },
  },
}

const within_days: Atom = {
  is: 'whole',
  label: 'Days after the signup',
  placeholder: 'no limit',
}

const qualify: EntryList = {
  is: 'rows',
  label: 'The customer must also',
  one: 'requirement',
  item: {
    is: 'oneOf',
    label: 'Requirement',
    forms: {
      sum: {
        label: 'Reach a sum',
        members: {
          sum: factRows('What is added up'),
          min: { is: 'amount', label: 'Sum to reach' },
          within_days,
          at: {
            is: 'choice',
            label: 'Checked',
            options: [
              ['first', 'As soon as it is reached'],
              ['end', 'When these days are over'],
            ],
          },
        },
      },
      count: {
        label: 'Have a number of records',
        members: {
          count: {
            is: 'oneOf',
            label: 'What is counted',
            forms: {
              ...countForms,
              activity: { label: 'Days with trading activity', members: { activity } },
            },
          },
          min: { is: 'whole', label: 'Number to reach' },
          within_days,
        },
      },
      customer: {
        label: 'Be one of these customers',
        members: { customer: { is: 'when', label: 'The customer', ofRecords: false } },
      },
    },
  },
}

const least: Atom = {
  is: 'amount',
  label: 'Smallest amount',
  hint: 'Of that one record.',
}

const trigger: OneOf = {
  is: 'oneOf',
  label: 'When a customer',
  forms: {
    transactions: {
      label: 'Makes a first transaction',
      members: { transactions, subtypes, min: least },
    },
    event: { label: 'Has a first event', members: { event, kpi, min: least } },
    signup: { label: 'Signs up', members: {}, fixed: { signup: true } },
  },
}

const amount: Atom = { is: 'amount', label: 'Amount' }
const percent: Atom = { is: 'percent', label: 'Percentage' }

const step = (...rates: readonly ('amount' | 'percent')[]): Group => ({
  is: 'group',
  label: 'Tier',
  members: {
    from: { is: 'amount', label: 'From' },
    ...(rates.includes('percent') && { percent: { ...percent, label: 'Pays percent' } }),
    ...(rates.includes('amount') && { amount: { ...amount, label: 'Pays amount' } }),
  },
})

const tiers = (...rates: readonly ('amount' | 'percent')[]): Group => ({
  is: 'group',
  label: 'Tiers',
  members: {
    steps: {
      is: 'rows',
      label: 'Steps',
      one: 'step',
      hint: 'The first begins at 0.',
      item: step(...rates),
    },
    mode: {
      is: 'choice',
      label: 'The step that is reached',
      options: [
        ['whole', 'Applies to all of it'],
        ['slice', 'Applies to the part above it'],
      ],
    },
    by: {
      is: 'oneOf',
      label: 'Measured by',
      none: 'What the rule pays for',
      forms: {
        once: {
          label: 'Customers who qualified by a rule',
          members: { once: { is: 'text', label: 'Rule', offer: 'onceRules' } },
        },
        customers: { label: 'Active customers', members: {}, fixed: { customers: 'active' } },
        base: { label: 'Another sum', members: { base: baseRows('What is added up') } },
      },
    },
    over: {
      is: 'choice',
      label: 'Of',
      options: [
        ['own', 'The affiliate alone'],
        ['network', 'The affiliate and all below'],
      ],
    },
    window: {
      is: 'choice',
      label: 'In',
      options: [
        ['period', 'The period of the statement'],
        ['quarter', 'The quarter'],
        ['lifetime', 'All time'],
      ],
    },
  },
})

const COMMON: Members = {
  when: { is: 'when', label: 'Only for', ofRecords: true },
  months: {
    is: 'whole',
    label: 'Months after the signup',
    placeholder: 'no limit',
  },
  max: { is: 'amount', label: 'Most each period' },
}

const max_per_customer: Atom = { is: 'amount', label: 'Most for each customer' }
const allow_over_100: Atom = { is: 'flag', label: 'More than 100 % is meant' }
const id: Atom = {
  is: 'text',
  label: 'Name of the rule',
  hint: 'Keep it in later versions.',
}

/** A kind of rule: its members, and which of them are its rate. */
export interface RuleKind {
  readonly label: string
  readonly add: string
  /** The members of which a rule has one. */
  readonly pays: readonly Choice[]
  readonly members: Members
  /** The members that are limits: they are folded while they are empty. */
  readonly limits: readonly string[]
}

const each: Atom = { is: 'amount', label: 'Units for one amount', placeholder: '1' }

/** The kinds of rules, in the order in which the form offers them. */
export const RULE_KINDS: Readonly<Record<string, RuleKind>> = {
  once: {
    label: 'Pays once for a customer',
    add: 'once for a customer',
    pays: [
      ['amount', 'A fixed amount'],
      ['percent', 'A percentage of that record'],
      ['tiers', 'By tiers'],
    ],
    members: {
      id,
      trigger,
      amount,
      percent,
      tiers: tiers('percent', 'amount'),
      qualify,
      ...COMMON,
      min_amount: { is: 'amount', label: 'Least it pays' },
      max_amount: { is: 'amount', label: 'Most it pays' },
      max_per_customer,
      max_count: { is: 'whole', label: 'Most customers each period' },
      void_by: {
        is: 'group',
        label: 'Taken back',
        members: {
          terms: factRows('If these reach the amount'),
          within_days: { is: 'whole', label: 'Within days' },
        },
      },
      requalify: { is: 'flag', label: 'Can qualify again' },
      grace_hours: {
        is: 'whole',
        label: 'Hours before the signup',
        placeholder: '24',
      },
      allow_over_100,
    },
    limits: [
      ...['months', 'max', 'min_amount', 'max_amount', 'max_per_customer', 'max_count'],
      ...['void_by', 'requalify', 'grace_hours', 'allow_over_100'],
    ],
  },
  share: {
    label: 'Pays a share',
    add: 'a share of what customers bring',
    pays: [
      ['percent', 'A percentage'],
      ['tiers', 'By tiers'],
    ],
    members: {
      id,
      percent,
      tiers: tiers('percent'),
      base: baseRows('Of'),
      negative: {
        is: 'choice',
        label: 'A negative result',
        options: [
          ['offset', 'Is deducted from other rules'],
          ['zero', 'Counts as 0'],
          ['carry', 'Is carried to later periods'],
        ],
      },
      ...COMMON,
      per: {
        is: 'choice',
        label: 'Computed for each',
        options: [
          ['affiliate', 'Affiliate'],
          ['customer', 'Customer'],
          ['product', 'Product'],
        ],
      },
      max_per_customer,
      recoups: {
        is: 'text',
        label: 'Earns back the rule',
        offer: 'onceRules',
      },
      fence: {
        is: 'group',
        label: 'Large losses are set apart',
        members: {
          customer: { is: 'amount', label: 'Customer at or below', placeholder: 'such as -7000' },
          affiliate: {
            is: 'amount',
            label: 'Affiliate at or below',
            placeholder: 'such as -2000',
          },
        },
      },
      allow_over_100,
    },
    limits: ['months', 'max', 'per', 'max_per_customer', 'recoups', 'fence', 'allow_over_100'],
  },
  unit: {
    label: 'Pays for each unit',
    add: 'for each lot or record',
    pays: [
      ['amount', 'An amount'],
      ['tiers', 'By tiers'],
    ],
    members: { id, unit, amount, tiers: tiers('amount'), each, ...COMMON },
    limits: ['each', 'months', 'max'],
  },
  override: {
    label: 'Pays for affiliates below',
    add: 'for affiliates below',
    pays: [
      ['percent', 'A percentage'],
      ['amount', 'An amount'],
      ['tiers', 'By tiers'],
    ],
    members: {
      id,
      level: { is: 'whole', label: 'Levels below', hint: '1 for those directly below.' },
      of: {
        is: 'oneOf',
        label: 'Of',
        forms: {
          lines: {
            label: 'What they earn',
            members: {
              lines: {
                is: 'ticks',
                label: 'By',
                options: [
                  ['once', 'Payments for customers'],
                  ['share', 'Shares'],
                  ['unit', 'Units'],
                ],
              },
            },
          },
          base: {
            label: 'A sum of their customers',
            members: { base: baseRows('What is added up') },
          },
          unit: { label: 'Units of their customers', members: { unit } },
          once: {
            label: 'Their customers who qualify',
            members: { once: { is: 'text', label: 'By the rule', offer: 'onceRules' } },
          },
        },
      },
      percent,
      amount,
      tiers: tiers('percent', 'amount'),
      each,
      ...COMMON,
      negative: {
        is: 'choice',
        label: 'A negative sum',
        options: [
          ['zero', 'Counts as 0'],
          ['offset', 'Is deducted'],
        ],
      },
      funded_by: {
        is: 'choice',
        label: 'Paid by',
        options: [
          ['operator', 'The company'],
          ['downline', 'The affiliate below'],
        ],
      },
      allow_over_100,
    },
    limits: ['each', 'months', 'max', 'negative', 'funded_by', 'allow_over_100'],
  },
}

/** The members of a plan beside its rules. */
export const PLAN_MEMBERS: Members = {
  name: { is: 'text', label: 'Name' },
  currency: { is: 'text', label: 'Currency', offer: 'currencies', placeholder: 'such as EUR' },
  period: {
    is: 'choice',
    label: 'Statements for each',
    options: [
      ['month', 'Month'],
      ['week', 'Week'],
    ],
  },
  effective_from: { is: 'day', label: 'From' },
  terms: {
    is: 'choice',
    label: 'A new version is for',
    options: [
      ['signup', 'New customers'],
      ['current', 'All customers'],
    ],
  },
  negative: {
    is: 'choice',
    label: 'A negative balance',
    options: [
      ['carry', 'Is carried over'],
      ['zero', 'Is written off'],
    ],
  },
  minimum_payout: {
    is: 'amount',
    label: 'Smallest payout',
    hint: 'A lower balance waits.',
  },
  hold_days: { is: 'whole', label: 'Days until it is payable', hint: 'After the period ends.' },
}
