import * as v from 'valibot'
import { describeField, documentation } from '../../validation/describe.ts'
import * as f from '../../validation/fields.ts'
import { ruleMessage } from '../../validation/issue.ts'
import { conditions } from './conditions.ts'
import { decimal, notNegative, wholeNumber } from './decimals.ts'
import { PLAN_LIMITS } from './limits.ts'
import { byMember, listOf, objectOf } from './shapes.ts'
import { countedForQualify, eventMembers, factTerm, transactionMembers } from './terms.ts'

const { count, days, graceHours, qualifications, terms } = PLAN_LIMITS

const min = v.exactOptional(
  describeField(
    notNegative,
    documentation('The smallest amount of that single record, in the plan’s currency.', '100'),
  ),
)

const trigger = byMember({
  transactions: objectOf({ ...transactionMembers, min }),
  event: objectOf({ ...eventMembers, min }),
  signup: objectOf({
    signup: describeField(v.literal(true, 'enum true'), documentation('The signup itself.')),
  }),
})

const within_days = wholeNumber(1, days)
const window = v.exactOptional(
  describeField(
    within_days,
    documentation(
      'Only records before the signup + n × 24 hours count; whole days up to the signup day + n. From when records count, `grace_hours` says.',
      30,
    ),
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
    sum: describeField(listOf(factTerm, terms), documentation('The terms that are summed.')),
    min: describeField(decimal, documentation('The sum to reach, in the plan’s currency.', '500')),
    within_days: window,
    at: v.exactOptional(
      describeField(
        f.oneOf('first', 'end'),
        documentation(
          '`first` (default): qualifies as soon as the sum is reached. `end`: the sum is checked when `within_days` ends, so withdrawals count if a term deducts them.',
        ),
      ),
    ),
  }),
  count: objectOf({
    count: describeField(countedForQualify, documentation('The records that are counted.')),
    min: describeField(countMin, documentation('The number to reach.', 3)),
    within_days: window,
  }),
  customer: objectOf({
    customer: describeField(conditions, documentation('Conditions that the customer meets.')),
  }),
})

/** The members of a `once` rule that no other rule has. */
export const onceMembers = {
  trigger: describeField(
    trigger,
    documentation('What starts the CPA, usually the first-time deposit.'),
  ),
  min_amount: v.exactOptional(
    describeField(notNegative, documentation('The least that a percentage pays.', '50')),
  ),
  max_amount: v.exactOptional(
    describeField(notNegative, documentation('The most that a percentage pays.', '600')),
  ),
  qualify: v.exactOptional(
    describeField(
      listOf(qualification, qualifications),
      documentation('Further conditions. All must hold.'),
    ),
  ),
  grace_hours: v.exactOptional(
    describeField(
      wholeNumber(0, graceHours),
      documentation(
        'How many hours before the signup records count for the trigger, and for the sums and counts of `qualify`, from 0 to 168. Whole days count from the day on in which these hours begin. Defaults to 24, since the clocks of systems differ.',
        24,
      ),
    ),
  ),
  requalify: v.exactOptional(
    describeField(
      v.boolean(),
      documentation(
        'Whether the customer can qualify by a later trigger, such as another deposit, after a chargeback. Defaults to `false`: no CPA for this customer.',
      ),
    ),
  ),
  void_by: v.exactOptional(
    describeField(
      objectOf({
        terms: describeField(
          listOf(factTerm, terms),
          documentation('The terms that are summed, such as refunds.'),
        ),
        within_days: describeField(within_days, documentation('The days after the trigger.', 30)),
      }),
      documentation(
        'The clawback rule: if its terms reach the trigger’s amount in these days, the CPA is void.',
      ),
    ),
  ),
  max_count: v.exactOptional(
    describeField(
      wholeNumber(1, count),
      documentation('The most customers of an affiliate that are paid in a period.', 100),
    ),
  ),
}
