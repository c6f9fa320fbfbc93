import * as v from 'valibot'
import { describeField } from '../../validation/describe.ts'
import * as f from '../../validation/fields.ts'
import { ruleMessage } from '../../validation/issue.ts'
import { conditions } from './conditions.ts'
import { notNegative, notPositive, positive, wholeNumber } from './decimals.ts'
import { PLAN_LIMITS } from './limits.ts'
import { onceMembers } from './once.ts'
import { byMember, closed, listOf } from './shapes.ts'
import { base, name, unit } from './terms.ts'

const { levels, months, steps } = PLAN_LIMITS

const amount = describeField(notNegative, 'The amount, in the plan’s currency.', '200.00')
const percent = describeField(notNegative, 'The percentage, such as `30` for 30 %.', '30')

const step = closed({
  from: describeField(
    notNegative,
    'The measure from which the step applies, inclusive. The first is 0, each further one larger.',
    '100',
  ),
  percent: v.exactOptional(describeField(percent, 'The percentage of the step.')),
  amount: v.exactOptional(describeField(amount, 'The amount of the step.')),
})

const measure = byMember({
  once: closed({
    once: describeField(name, 'The id of a `once` rule: the number of its lines.', 'cpa'),
  }),
  customers: closed({
    customers: describeField(
      f.oneOf('active'),
      'The number of customers with a counted fact in this rule.',
    ),
  }),
  base: closed({ base: describeField(base, 'The terms of another base.') }),
})

/** Steps in place of a percentage or an amount. */
export const tiers = closed({
  mode: describeField(
    f.oneOf('whole', 'slice'),
    '`whole`: the step that is reached applies to everything. `slice`: each part has its own step.',
  ),
  by: v.exactOptional(
    describeField(measure, 'What is measured. Without it, the rule’s own base or units.'),
  ),
  over: v.exactOptional(
    describeField(
      f.oneOf('own', 'network'),
      'Whether the measure also covers all affiliates below: `network`. `own` by default.',
    ),
  ),
  window: v.exactOptional(
    describeField(
      f.oneOf('period', 'quarter', 'lifetime'),
      'The time that the measure covers. `period` by default.',
    ),
  ),
  steps: describeField(listOf(step, steps), 'The steps, in ascending order.'),
})

/** The members that every rule can have. */
const common = {
  id: describeField(name, 'Identifies the rule in its plan. Keep it in later versions.', 'cpa'),
  when: v.exactOptional(describeField(conditions, 'Only facts that meet these conditions.')),
  months: v.exactOptional(
    describeField(
      wholeNumber(1, months),
      'Only facts before the signup day plus this number of months.',
      24,
    ),
  ),
  tiers: v.exactOptional(describeField(tiers, 'Steps in place of `percent` or `amount`.')),
  max: v.exactOptional(
    describeField(notNegative, 'The most that the rule pays an affiliate in a period.', '10000'),
  ),
}

const max_per_customer = v.exactOptional(
  describeField(notNegative, 'The most that a line of one customer pays.', '500'),
)

const allow_over_100 = v.exactOptional(
  describeField(v.boolean(), 'Whether a percentage above 100 is meant: then it has no warning.'),
)

const once = closed({
  ...common,
  kind: describeField(v.literal('once'), 'Pays once for a customer.'),
  amount: v.exactOptional(amount),
  percent: v.exactOptional(
    describeField(percent, 'The percentage of the trigger’s converted amount.', '50'),
  ),
  ...onceMembers,
  max_per_customer,
  allow_over_100,
})

const share = closed({
  ...common,
  kind: describeField(v.literal('share'), 'Pays a percentage of a base.'),
  percent: v.exactOptional(percent),
  base: describeField(base, 'The terms of the base, in the order in which they are printed.'),
  per: v.exactOptional(
    describeField(
      f.oneOf('affiliate', 'customer', 'product'),
      'One line for each of these, whose sign is taken there. `affiliate` by default.',
    ),
  ),
  negative: v.exactOptional(
    describeField(
      f.oneOf('offset', 'zero', 'carry'),
      'A negative line: `offset` (default) keeps it, `zero` drops it, `carry` sets it against later lines.',
    ),
  ),
  fence: v.exactOptional(
    describeField(
      closed({
        customer: describeField(notPositive, 'The base of a high-roller.', '-7000'),
        affiliate: describeField(notPositive, 'The base of the affiliate.', '-2000'),
      }),
      'Losses of single customers that are held against these customers alone.',
    ),
  ),
  recoups: v.exactOptional(
    describeField(name, 'The id of a `once` rule that is an advance on this share.', 'cpa'),
  ),
  max_per_customer,
  allow_over_100,
})

const unitRule = closed({
  ...common,
  kind: describeField(v.literal('unit'), 'Pays an amount for each unit.'),
  unit: describeField(unit, 'What is counted.'),
  each: v.exactOptional(
    describeField(positive, 'The number of units that `amount` pays for, 1 by default.', '1000000'),
  ),
  amount: v.exactOptional(amount),
})

const below = byMember({
  lines: closed({
    lines: describeField(
      listOf(f.oneOf('once', 'share', 'unit'), 3),
      'The kinds of the rules whose lines are summed.',
      ['share', 'unit'],
    ),
  }),
  base: closed({ base: describeField(base, 'The terms of a base over their customers’ facts.') }),
  unit: closed({ unit: describeField(unit, 'The units of their customers’ facts.') }),
  once: closed({ once: describeField(name, 'The id of a `once` rule: each of its lines.', 'cpa') }),
})

const override = closed({
  ...common,
  kind: describeField(v.literal('override'), 'Pays for the affiliates below.'),
  level: describeField(
    wholeNumber(1, levels),
    'The number of steps below, exactly: 1 for affiliates whose parent is this one.',
    1,
  ),
  of: describeField(below, 'What of the affiliates below is paid for.'),
  percent: v.exactOptional(percent),
  amount: v.exactOptional(amount),
  each: v.exactOptional(
    describeField(positive, 'The number of units that `amount` pays for, 1 by default.', '1000000'),
  ),
  negative: v.exactOptional(
    describeField(
      f.oneOf('offset', 'zero'),
      'A negative sum of an affiliate: `zero` (default) or `offset`.',
    ),
  ),
  funded_by: v.exactOptional(
    describeField(
      f.oneOf('operator', 'downline'),
      'Who pays: `operator` (default), or the affiliate below, whose statement then has the negative line.',
    ),
  ),
  allow_over_100,
})

const KINDS = 'once, share, unit, override'

/** A rule of a plan. */
export const rule = v.variant('kind', [once, share, unitRule, override], ({ path }) =>
  path ? ruleMessage('enum', KINDS) : ruleMessage('type', 'object'),
)
