import * as v from 'valibot'
import type { Fixed } from '../../platform/http/operation-words.ts'
import { count, money } from '../../platform/validation/answer-fields.ts'
import { component } from '../../platform/validation/described.ts'
import { member, nullable } from '../../platform/validation/fields.ts'
import { REQUEST_LIMITS } from '../limits.ts'
import { planWarning } from '../plans/warning.ts'

/** One page of a simulation. */
export const simulation = component('Simulation', () => ({
  plan: member(v.string(), 'The plan.'),
  period: member(v.string(), 'The simulated period.'),
  currency: member(v.string(), 'The currency of the plan.'),
  data: member(
    v.array(
      v.object({
        affiliate_id: member(v.string(), 'The affiliate.'),
        plan: member(v.string(), 'The plan: the simulated one, or one that depends on it.'),
        currency: member(v.string(), 'The currency of all amounts.'),
        current: member(money, 'The sum of the lines under the versions in force.'),
        simulated: member(money, 'The sum of the lines under the simulated version.'),
        difference: member(money, '`simulated` minus `current`.'),
      }),
    ),
    'What changes, by affiliate and plan.',
  ),
  affiliates: member(count, 'The number of affiliates of this page.'),
  skipped: member(
    v.array(v.string()),
    `The affiliates that were left out: more than ${REQUEST_LIMITS.facts.toLocaleString('en')} records of each are needed.`,
  ),
  warnings: member(v.array(planWarning), 'Terms that are allowed but probably a mistake.'),
  meta: v.object({
    next_cursor: nullable(v.string(), 'The `cursor` of the next page. Null on the last.'),
  }),
}))

/** One page of a simulation. */
export type Simulated = Fixed<v.InferOutput<typeof simulation>>
