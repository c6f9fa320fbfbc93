import * as v from 'valibot'
import { hasMinorUnit } from '../../platform/money/minor-digits.ts'
import * as f from '../../platform/validation/fields.ts'
import { exactOptional, member, said } from '../../platform/validation/fields.ts'
import { ruleMessage } from '../../platform/validation/issue.ts'
import { byMember, listOf, objectOf } from '../../platform/validation/shapes.ts'
import { conditions } from './conditions.ts'
import { decimal, notNegative, positive, wholeNumber } from './decimals.ts'
import { PLAN_LIMITS } from './limits.ts'
import { membersOf } from './modifiers/order.ts'
import {
  base,
  countedForQualify,
  eventMembers,
  factTerm,
  name,
  transactionMembers,
  unit,
} from './terms.ts'

/** An amount of money that is not negative. */
const amount = member(notNegative, said('The amount, in the plan’s currency.', '200.00'))

/** A percentage that is not negative. */
const percent = member(notNegative, said('The percentage, such as `30` for 30 %.', '30'))

const step = objectOf({
  from: member(
    notNegative,
    said(
      'The measure from which the step applies, inclusive. The first is 0, each further one larger.',
      '100',
    ),
  ),
  percent: exactOptional(percent, said('The percentage of the step.')),
  amount: exactOptional(amount, said('The amount of the step.')),
})

const measure = byMember({
  once: objectOf({
    once: member(name, said('The id of a `once` rule: the number of its CPAs.', 'cpa')),
  }),
  customers: objectOf({
    customers: member(
      f.oneOf('active'),
      said('The number of customers with a record that this rule counts in the period.'),
    ),
  }),
  base: objectOf({ base: member(base, said('The terms of another base.')) }),
})

/** Steps in place of a percentage or an amount. */
export const tiers = objectOf({
  mode: member(
    f.oneOf('whole', 'slice'),
    said(
      '`whole` (retroactive): the tier that is reached applies to all of this period; earlier periods of the `window` are not paid again at the new rate. `slice` (incremental): each part is paid at its own tier.',
    ),
  ),
  by: exactOptional(
    measure,
    said('What is measured. Without it, the rule’s own base, units or number of CPAs.'),
  ),
  over: exactOptional(
    f.oneOf('own', 'network'),
    said('Whether the measure also covers all affiliates below: `network`. `own` by default.'),
  ),
  window: exactOptional(
    f.oneOf('period', 'quarter', 'lifetime'),
    said('The time that the measure covers. `period` by default.'),
  ),
  steps: member(listOf(step, PLAN_LIMITS.steps), said('The steps, in ascending order.')),
})

const { count, days, graceHours, qualifications, terms } = PLAN_LIMITS

const min = exactOptional(
  notNegative,
  said('The smallest amount of that single record, in the plan’s currency.', '100'),
)

const trigger = byMember({
  transactions: objectOf({ ...transactionMembers, min }),
  event: objectOf({ ...eventMembers, min }),
  signup: objectOf({
    signup: member(v.literal(true, 'enum true'), said('The signup itself.')),
  }),
})

const within_days = wholeNumber(1, days)
const window = exactOptional(
  within_days,
  said(
    'Only records before the signup + n × 24 hours count; whole days up to the signup day + n. From when records count, `grace_hours` says.',
    30,
  ),
)

const COUNT = ruleMessage('pattern', `a whole number from 0 to ${count}`)

/** A whole number, which may be text like the other thresholds. */
const countMin = v.union(
  [wholeNumber(0, count), v.pipe(v.string(), v.regex(/^(?:0|[1-9]\d{0,5}|1000000)$/, COUNT))],
  COUNT,
)

const qualification = byMember({
  sum: objectOf({
    sum: member(listOf(factTerm, terms), said('The terms that are summed.')),
    min: member(decimal, said('The sum to reach, in the plan’s currency.', '500')),
    within_days: window,
    at: exactOptional(
      f.oneOf('first', 'end'),
      said(
        '`first` (default): qualifies as soon as the sum is reached. `end`: the sum is checked when `within_days` ends, so withdrawals count if a term deducts them.',
      ),
    ),
  }),
  count: objectOf({
    count: member(countedForQualify, said('The records that are counted.')),
    min: member(countMin, said('The number to reach.', 3)),
    within_days: window,
  }),
  customer: objectOf({
    customer: member(conditions, said('Conditions that the customer meets.')),
  }),
})

/** The members of a `once` rule that no other rule has. */
const onceMembers = {
  trigger: member(trigger, said('What starts the CPA, usually the first-time deposit.')),
  qualify: exactOptional(
    listOf(qualification, qualifications),
    said('Further conditions. All must hold.'),
  ),
  grace_hours: exactOptional(
    wholeNumber(0, graceHours),
    said(
      'How many hours before the signup records count for the trigger, and for the sums and counts of `qualify`, from 0 to 168. Whole days count from the day on in which these hours begin. Defaults to 24, since the clocks of systems differ.',
      24,
    ),
  ),
  requalify: exactOptional(
    v.boolean(),
    said(
      'Whether the customer can qualify by a later trigger, such as another deposit, after a chargeback. Defaults to `false`: no CPA for this customer.',
    ),
  ),
  void_by: exactOptional(
    objectOf({
      terms: member(listOf(factTerm, terms), said('The terms that are summed, such as refunds.')),
      within_days: member(within_days, said('The days after the trigger.', 30)),
    }),
    said(
      'The clawback rule: if its terms reach the trigger’s amount in these days, the CPA is void.',
    ),
  ),
}

const { levels, months } = PLAN_LIMITS

/** The members that every rule can have. */
const common = {
  id: member(name, said('Identifies the rule in its plan. Keep it in later versions.', 'cpa')),
  when: exactOptional(conditions, said('Only records that meet these conditions.')),
  months: exactOptional(
    wholeNumber(1, months),
    said(
      'Only records in the first n months after the signup; of a `once` rule, only triggers.',
      24,
    ),
  ),
  tiers: exactOptional(tiers, said('Tiers in place of `percent` or `amount`.')),
}

const once = objectOf({
  ...common,
  kind: member(v.literal('once'), said('Pays once for a customer.')),
  amount: v.exactOptional(amount),
  percent: exactOptional(percent, said('The percentage of the trigger’s converted amount.', '50')),
  ...onceMembers,
  ...membersOf('once'),
})

const share = objectOf({
  ...common,
  kind: member(v.literal('share'), said('Pays a percentage of a base.')),
  percent: v.exactOptional(percent),
  base: member(base, said('The terms of the base, in the order in which explanations list them.')),
  per: exactOptional(
    f.oneOf('affiliate', 'customer', 'product'),
    said(
      'One line per affiliate (default), customer or product. Negative lines are handled per line.',
    ),
  ),
  ...membersOf('share'),
})

const each = exactOptional(
  positive,
  said('The number of units that `amount` pays for, 1 by default.', '1000000'),
)

const unitRule = objectOf({
  ...common,
  ...membersOf('unit'),
  kind: member(v.literal('unit'), said('Pays an amount for each unit.')),
  unit: member(unit, said('What is counted.')),
  each,
  amount: v.exactOptional(amount),
})

const below = byMember({
  lines: objectOf({
    lines: member(
      listOf(f.oneOf('once', 'share', 'unit'), 3),
      said('The kinds of the rules whose lines are summed.', ['share', 'unit']),
    ),
  }),
  base: objectOf({
    base: member(
      base,
      said('The terms of a base over the records of the sub-affiliates’ customers.'),
    ),
  }),
  unit: objectOf({
    unit: member(unit, said('The units of the sub-affiliates’ customers.')),
  }),
  once: objectOf({
    once: member(name, said('Pays for each CPA that this `once` rule paid below.', 'cpa')),
  }),
})

const override = objectOf({
  ...common,
  ...membersOf('override'),
  kind: member(v.literal('override'), said('Pays for the affiliates below.')),
  level: member(
    wholeNumber(1, levels),
    said('Exactly this level below: 1 for direct sub-affiliates.', 1),
  ),
  of: member(below, said('What the override is computed from.')),
  percent: v.exactOptional(percent),
  amount: v.exactOptional(amount),
  each,
  negative: exactOptional(
    f.oneOf('offset', 'zero'),
    said(
      'A sub-affiliate with a negative sum counts as 0 (`zero`, the default), or reduces the others (`offset`).',
    ),
  ),
  funded_by: exactOptional(
    f.oneOf('operator', 'downline'),
    said(
      'Who pays: `operator` (default), or the affiliate below, whose statement then has the negative line.',
    ),
  ),
})

const KINDS = 'once, share, unit, override'

/** A rule of a plan. */
export const rule = v.variant('kind', [once, share, unitRule, override], ({ path }) =>
  path ? ruleMessage('enum', KINDS) : ruleMessage('type', 'object'),
)

const planCurrency = v.pipe(
  f.currency,
  v.check(
    hasMinorUnit,
    ruleMessage(
      'pattern',
      'a currency with a minor unit in ISO 4217, to which amounts are rounded',
    ),
  ),
)

/** A version of a plan. */
export const planTerms = objectOf({
  name: member(f.label, said('The display name of the plan.', 'Standard IB')),
  currency: member(
    planCurrency,
    said(
      'The ISO 4217 currency of all amounts and thresholds, with a minor unit. It never changes.',
      'EUR',
    ),
  ),
  period: member(
    f.oneOf('month', 'week'),
    said('The length of a period: a calendar month or a week of ISO 8601. It never changes.'),
  ),
  effective_from: member(
    f.day,
    said(
      'The first day on which the version is in force. The first version applies to earlier days, too.',
      '2026-12-01',
    ),
  ),
  terms: member(
    f.oneOf('signup', 'current'),
    said(
      '`signup`: a customer keeps the version in force at signup, or at the start of the assignment if that is later. `current`: all customers move to the version in force on the first day of the period. It never changes.',
    ),
  ),
  negative: member(
    f.oneOf('carry', 'zero'),
    said(
      'Negative carryover of the statement’s balance (opening + total): `carry` carries it over, `zero` writes it off.',
    ),
  ),
  minimum_payout: member(
    notNegative,
    said(
      'A lower balance is carried to the next period. Applies per plan, not per affiliate.',
      '50.00',
    ),
  ),
  hold_days: member(
    wholeNumber(0, PLAN_LIMITS.holdDays),
    said('The days after the end of the period until the payout is payable.', 14),
  ),
  rules: member(listOf(rule, PLAN_LIMITS.rules), said('The rules. Each pays lines of its own.')),
})
