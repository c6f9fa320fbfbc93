import * as v from 'valibot'
import { describeField, documentation } from '../../validation/describe.ts'
import * as f from '../../validation/fields.ts'
import { ruleMessage } from '../../validation/issue.ts'
import { conditions } from './conditions.ts'
import { notNegative, notPositive, positive, wholeNumber } from './decimals.ts'
import { PLAN_LIMITS } from './limits.ts'
import { onceMembers } from './once.ts'
import { byMember, listOf, objectOf } from './shapes.ts'
import { base, name, unit } from './terms.ts'
import { amount, percent, tiers } from './tiers.ts'

const { levels, months } = PLAN_LIMITS

/** The members that every rule can have. */
const common = {
  id: describeField(
    name,
    documentation('Identifies the rule in its plan. Keep it in later versions.', 'cpa'),
  ),
  when: v.exactOptional(
    describeField(conditions, documentation('Only records that meet these conditions.')),
  ),
  months: v.exactOptional(
    describeField(
      wholeNumber(1, months),
      documentation(
        'Only records in the first n months after the signup; of a `once` rule, only triggers.',
        24,
      ),
    ),
  ),
  tiers: v.exactOptional(
    describeField(tiers, documentation('Tiers in place of `percent` or `amount`.')),
  ),
  max: v.exactOptional(
    describeField(
      notNegative,
      documentation('The most that the rule pays an affiliate in a period.', '10000'),
    ),
  ),
}

const max_per_customer = v.exactOptional(
  describeField(notNegative, documentation('The most that a line of one customer pays.', '500')),
)

const allow_over_100 = v.exactOptional(
  describeField(v.boolean(), documentation('Allows a percentage above 100 without a warning.')),
)

const once = objectOf({
  ...common,
  kind: describeField(v.literal('once'), documentation('Pays once for a customer.')),
  amount: v.exactOptional(amount),
  percent: v.exactOptional(
    describeField(
      percent,
      documentation('The percentage of the trigger’s converted amount.', '50'),
    ),
  ),
  ...onceMembers,
  max_per_customer,
  allow_over_100,
})

const share = objectOf({
  ...common,
  kind: describeField(v.literal('share'), documentation('Pays a percentage of a base.')),
  percent: v.exactOptional(percent),
  base: describeField(
    base,
    documentation('The terms of the base, in the order in which explanations list them.'),
  ),
  per: v.exactOptional(
    describeField(
      f.oneOf('affiliate', 'customer', 'product'),
      documentation(
        'One line per affiliate (default), customer or product. Negative lines are handled per line.',
      ),
    ),
  ),
  negative: v.exactOptional(
    describeField(
      f.oneOf('offset', 'zero', 'carry'),
      documentation(
        '`offset` (default): a negative line reduces other lines of the statement. `zero`: it is written off. `carry`: negative carryover to this rule’s next period.',
      ),
    ),
  ),
  fence: v.exactOptional(
    describeField(
      objectOf({
        customer: describeField(
          notPositive,
          documentation('Customers whose base is at or below this are fenced.', '-7000'),
        ),
        affiliate: describeField(
          notPositive,
          documentation('The fence applies if the affiliate’s base is at or below this.', '-2000'),
        ),
      }),
      documentation(
        'High-roller fence: large losses are kept out of the base, and offset only against later revenue of the same customers.',
      ),
    ),
  ),
  recoups: v.exactOptional(
    describeField(
      name,
      documentation(
        'Hybrid: the id of the CPA rule whose payments are deducted from this share until recovered.',
        'cpa',
      ),
    ),
  ),
  max_per_customer,
  allow_over_100,
})

const unitRule = objectOf({
  ...common,
  kind: describeField(v.literal('unit'), documentation('Pays an amount for each unit.')),
  unit: describeField(unit, documentation('What is counted.')),
  each: v.exactOptional(
    describeField(
      positive,
      documentation('The number of units that `amount` pays for, 1 by default.', '1000000'),
    ),
  ),
  amount: v.exactOptional(amount),
})

const below = byMember({
  lines: objectOf({
    lines: describeField(
      listOf(f.oneOf('once', 'share', 'unit'), 3),
      documentation('The kinds of the rules whose lines are summed.', ['share', 'unit']),
    ),
  }),
  base: objectOf({
    base: describeField(
      base,
      documentation('The terms of a base over the records of the sub-affiliates’ customers.'),
    ),
  }),
  unit: objectOf({
    unit: describeField(unit, documentation('The units of the sub-affiliates’ customers.')),
  }),
  once: objectOf({
    once: describeField(
      name,
      documentation('Pays for each CPA that this `once` rule paid below.', 'cpa'),
    ),
  }),
})

const override = objectOf({
  ...common,
  kind: describeField(v.literal('override'), documentation('Pays for the affiliates below.')),
  level: describeField(
    wholeNumber(1, levels),
    documentation('Exactly this level below: 1 for direct sub-affiliates.', 1),
  ),
  of: describeField(below, documentation('What the override is computed from.')),
  percent: v.exactOptional(percent),
  amount: v.exactOptional(amount),
  each: v.exactOptional(
    describeField(
      positive,
      documentation('The number of units that `amount` pays for, 1 by default.', '1000000'),
    ),
  ),
  negative: v.exactOptional(
    describeField(
      f.oneOf('offset', 'zero'),
      documentation(
        'A sub-affiliate with a negative sum counts as 0 (`zero`, the default), or reduces the others (`offset`).',
      ),
    ),
  ),
  funded_by: v.exactOptional(
    describeField(
      f.oneOf('operator', 'downline'),
      documentation(
        'Who pays: `operator` (default), or the affiliate below, whose statement then has the negative line.',
      ),
    ),
  ),
  allow_over_100,
})

const KINDS = 'once, share, unit, override'

/** A rule of a plan. */
export const rule = v.variant('kind', [once, share, unitRule, override], ({ path }) =>
  path ? ruleMessage('enum', KINDS) : ruleMessage('type', 'object'),
)
