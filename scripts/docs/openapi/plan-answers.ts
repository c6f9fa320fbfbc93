import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { ref } from './operation.ts'
import { COUNT, oneOf } from './shapes.ts'

// The schemas of responses about plans and assignments.

/** Returns the schemas of responses about plans and assignments, by the names of their components. */
export const planAnswers = (): Record<string, JsonSchema> => ({
  PlanWarning: object({
    code: documented(
      'The code of the warning.',
      oneOf(
        'withdrawn_currency',
        'no_rates',
        'over_100',
        'unknown_event',
        'unknown_kpi',
        'never_sent',
        'rebate_and_unit',
        'unknown_rule',
        'recouped_twice',
        'measure_changed',
        'minor_unit',
        'unknown_affiliate',
        'partial_day',
      ),
    ),
    pointer: documented('A JSON Pointer (RFC 6901) into the body as sent.'),
    message: documented('What the author should know.'),
  }),
  PutAssignments: object({
    received: documented('The number of assignments in the request.', COUNT),
    changed: documented('The number that is new or has changed.', COUNT),
    warnings: documented('The first 100 affiliates that are not configured.', {
      type: 'array',
      items: ref('PlanWarning'),
    }),
    warnings_total: documented('The number of all warnings, listed or not.', COUNT),
  }),
})
