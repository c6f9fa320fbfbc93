import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { ref } from './operation.ts'
import { COUNT, DAY, oneOf, orNull, TIME } from './shapes.ts'

// The schemas of responses about plans and assignments.

const plan = documented('The id of the plan.')
const version = documented('The number of the version, from 1.', { type: 'integer', minimum: 1 })
const effective_from = documented('The first day on which the version is in force.', DAY)
const stored = {
  created_at: documented('When the version was put.', TIME),
  withdrawn_at: documented('When the version was withdrawn. Null if it was not.', orNull(TIME)),
}

const warnings = documented('Terms that are allowed but probably a mistake.', {
  type: 'array',
  items: ref('PlanWarning'),
})

const head = {
  plan,
  name: documented('The display name of the version in force, or of the first if none is.'),
  currency: documented('The currency of the plan.'),
  period: documented('The length of its periods.', oneOf('month', 'week')),
  terms: documented('Which version governs a fact.', oneOf('signup', 'current')),
  in_force: documented(
    'The version in force today. Null if none is: all begin later or are withdrawn.',
    { type: ['integer', 'null'], minimum: 1 },
  ),
  next: documented(
    'The next version, whose first day is to come. If none is in force, it also governs the days before it. Null if there is none.',
    orNull(
      object({
        version: documented('Its number.', { type: 'integer', minimum: 1 }),
        from: documented('Its first day.', DAY),
      }),
    ),
  ),
}

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
  Plan: object(head),
  PlanWithVersions: object({
    ...head,
    versions: documented('All versions, by number.', {
      type: 'array',
      items: object({ version, effective_from, name: documented('The display name.'), ...stored }),
    }),
  }),
  PlanVersion: object({
    plan,
    version,
    effective_from,
    terms: ref('CommissionPlan'),
    ...stored,
  }),
  PutPlan: object({
    plan,
    version,
    effective_from,
    outcome: documented(
      'Whether a version was created. `unchanged`: the latest version has the same terms.',
      oneOf('created', 'unchanged'),
    ),
    warnings,
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
