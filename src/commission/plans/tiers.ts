import * as v from 'valibot'
import { describeField, documentation } from '../../validation/describe.ts'
import * as f from '../../validation/fields.ts'
import { notNegative } from './decimals.ts'
import { PLAN_LIMITS } from './limits.ts'
import { byMember, listOf, objectOf } from './shapes.ts'
import { base, name } from './terms.ts'

/** An amount of money that is not negative. */
export const amount = describeField(
  notNegative,
  documentation('The amount, in the plan’s currency.', '200.00'),
)

/** A percentage that is not negative. */
export const percent = describeField(
  notNegative,
  documentation('The percentage, such as `30` for 30 %.', '30'),
)

const step = objectOf({
  from: describeField(
    notNegative,
    documentation(
      'The measure from which the step applies, inclusive. The first is 0, each further one larger.',
      '100',
    ),
  ),
  percent: v.exactOptional(describeField(percent, documentation('The percentage of the step.'))),
  amount: v.exactOptional(describeField(amount, documentation('The amount of the step.'))),
})

const measure = byMember({
  once: objectOf({
    once: describeField(
      name,
      documentation('The id of a `once` rule: the number of its CPAs.', 'cpa'),
    ),
  }),
  customers: objectOf({
    customers: describeField(
      f.oneOf('active'),
      documentation('The number of customers with a record that this rule counts in the period.'),
    ),
  }),
  base: objectOf({ base: describeField(base, documentation('The terms of another base.')) }),
})

/** Steps in place of a percentage or an amount. */
export const tiers = objectOf({
  mode: describeField(
    f.oneOf('whole', 'slice'),
    documentation(
      '`whole` (retroactive): the tier that is reached applies to all of this period; earlier periods of the `window` are not paid again at the new rate. `slice` (incremental): each part is paid at its own tier.',
    ),
  ),
  by: v.exactOptional(
    describeField(
      measure,
      documentation('What is measured. Without it, the rule’s own base, units or number of CPAs.'),
    ),
  ),
  over: v.exactOptional(
    describeField(
      f.oneOf('own', 'network'),
      documentation(
        'Whether the measure also covers all affiliates below: `network`. `own` by default.',
      ),
    ),
  ),
  window: v.exactOptional(
    describeField(
      f.oneOf('period', 'quarter', 'lifetime'),
      documentation('The time that the measure covers. `period` by default.'),
    ),
  ),
  steps: describeField(
    listOf(step, PLAN_LIMITS.steps),
    documentation('The steps, in ascending order.'),
  ),
})
