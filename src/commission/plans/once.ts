import * as v from 'valibot'
import { about, describeField } from '../../validation/describe.ts'
import * as f from '../../validation/fields.ts'
import { ruleMessage } from '../../validation/issue.ts'
import { conditions } from './conditions.ts'
import { decimal, notNegative, wholeNumber } from './decimals.ts'
import { PLAN_LIMITS } from './limits.ts'
import { byMember, listOf, objectOf } from './shapes.ts'
import { countedForQualify, eventMembers, factTerm, transactionMembers } from './terms.ts'

const { count, days, qualifications, terms } = PLAN_LIMITS

const min = v.exactOptional(
  describeField(
    notNegative,
    about('The least amount of that one fact, in the plan’s currency.', '100'),
  ),
)

const trigger = byMember({
  transactions: objectOf({ ...transactionMembers, min }),
  event: objectOf({ ...eventMembers, min }),
  signup: objectOf({
    signup: describeField(v.literal(true, 'enum true'), about('The signup itself.')),
  }),
})

const within_days = wholeNumber(1, days)
const window = v.exactOptional(
  describeField(within_days, about('The days from the signup on in which facts count.', 30)),
)

const COUNT = ruleMessage('pattern', `a whole number from 0 to ${count}`)

/** A whole number, which may be text like the other thresholds. */
const countMin = v.union(
  [wholeNumber(0, count), v.pipe(v.string(), v.regex(/^(?:0|[1-9]\d{0,5}|1000000)$/, COUNT))],
  COUNT,
)

const qualification = byMember({
  sum: objectOf({
    sum: describeField(listOf(factTerm, terms), about('The terms that are summed.')),
    min: describeField(decimal, about('The sum to reach, in the plan’s currency.', '500')),
    within_days: window,
    at: v.exactOptional(
      describeField(
        f.oneOf('first', 'end'),
        about(
          '`first` (default): the sum is reached once. `end`: it still holds when `within_days` is over.',
        ),
      ),
    ),
  }),
  count: objectOf({
    count: describeField(countedForQualify, about('The facts that are counted.')),
    min: describeField(countMin, about('The number to reach.', 3)),
    within_days: window,
  }),
  customer: objectOf({
    customer: describeField(conditions, about('Conditions that the customer meets.')),
  }),
})

/** The members of a `once` rule that no other rule has. */
export const onceMembers = {
  trigger: describeField(trigger, about('The fact that the rule waits for.')),
  min_amount: v.exactOptional(
    describeField(notNegative, about('The least that a percentage pays.', '50')),
  ),
  max_amount: v.exactOptional(
    describeField(notNegative, about('The most that a percentage pays.', '600')),
  ),
  qualify: v.exactOptional(
    describeField(listOf(qualification, qualifications), about('What else must hold. All must.')),
  ),
  requalify: v.exactOptional(
    describeField(
      v.boolean(),
      about(
        'Whether the next fact counts after a reversed one. Without it, the customer earns nothing.',
      ),
    ),
  ),
  void_by: v.exactOptional(
    describeField(
      objectOf({
        terms: describeField(
          listOf(factTerm, terms),
          about('The terms of what takes the trigger back, such as refunds.'),
        ),
        within_days: describeField(within_days, about('The days after the trigger.', 30)),
      }),
      about('Later transactions that reverse the trigger once they reach its amount.'),
    ),
  ),
  max_count: v.exactOptional(
    describeField(
      wholeNumber(1, count),
      about('The most customers of an affiliate that are paid in a period.', 100),
    ),
  ),
}
