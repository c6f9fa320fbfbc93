import { FRESH_LIMITS } from '../../../../src/commission/statements/limits.ts'
import { SIMULATION_LIMITS } from '../../../../src/commission/statements/simulation-limits.ts'
import { documented, object } from '../../envelopes.ts'
import { planSchemas } from '../../plans.ts'
import type { JsonSchema } from '../../types.ts'
import { type Operation, ref } from '../operation.ts'
import { listed, orNull, TEXT } from '../shapes.ts'
import { ACCOUNT_PATH, AT, COUNT, operation } from './operation.ts'

const money = (description: string) =>
  documented(description, { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' })

const AMOUNTS = {
  currency: documented('The currency of all amounts.'),
  current: money('The sum of the lines under the versions in force.'),
  simulated: money('The sum of the lines under the simulated version.'),
  difference: money('`simulated` minus `current`.'),
  payable_current: money('What is payable under the versions in force.'),
  payable_simulated: money('What is payable under the simulated version.'),
}

/** The schemas of the response to a simulation. */
export const SIMULATION_SCHEMAS: Record<string, JsonSchema> = {
  Simulation: object({
    plan: documented('The plan.'),
    periods: listed('The simulated periods, in order.', TEXT),
    currency: documented('The currency of the plan.'),
    data: listed(
      'The affiliates and plans with a difference, by affiliate and plan. With `all=true` also those without.',
      object({
        affiliate_id: documented('The affiliate.'),
        plan: documented('The plan: the simulated one, or one that depends on it.'),
        ...AMOUNTS,
      }),
    ),
    total: listed('The sums of all affiliates of this page, by currency.', object(AMOUNTS)),
    unchanged: documented('The number of affiliates of this page without a difference.', COUNT),
    skipped: listed(
      'The affiliates that were not computed.',
      object({
        affiliate_id: documented('The affiliate.'),
        reason: documented(
          `Why it was left out: it depends on more than ${FRESH_LIMITS.facts.toLocaleString('en')} records.`,
          { const: 'too_many_records' },
        ),
      }),
    ),
    warnings: listed('Terms that are allowed but probably a mistake.', ref('PlanWarning')),
    meta: object({
      next_cursor: documented('The `cursor` of the next page. Null on the last.', orNull(TEXT)),
    }),
  }),
}

/** Returns the schema of the body. `effective_from` has no effect here, so it is optional. */
function bodySchema(): JsonSchema {
  const { CommissionPlan = {} } = planSchemas(AT)
  const required = Object.keys(Object(CommissionPlan.properties)).filter(
    (name) => name !== 'effective_from',
  )
  const period = (description: string, example: string) =>
    documented(description, { type: 'string', examples: [example] })
  return {
    type: 'object',
    properties: {
      period: period('The period, of the kind of the plan.', '2026-10'),
      from: period('In place of `period`: the first period.', '2026-08'),
      to: period(
        `The last period, at most ${SIMULATION_LIMITS.periods} with the first.`,
        '2026-10',
      ),
      version: {
        ...CommissionPlan,
        required,
        description: 'The version, as in `putPlan`. Its `effective_from` has no effect.',
      },
    },
    required: ['version'],
    anyOf: [{ required: ['period'] }, { required: ['from', 'to'] }],
    additionalProperties: false,
  }
}

/** Describes the simulation of a version of a plan. */
export const simulation = (): Operation =>
  operation({
    method: 'post',
    path: `${ACCOUNT_PATH}/plans/{plan}/simulate`,
    id: 'simulatePlan',
    summary: 'Simulate a version of a plan',
    description: `Computes what a version of a plan would change, and stores nothing. In the periods asked for, the version governs all facts of the plan, in place of the versions in force; what lies before keeps them. Both sides are computed now from the records, as if no period were approved. A page has at most ${SIMULATION_LIMITS.affiliates} affiliates, and as many as depend on at most ${FRESH_LIMITS.facts.toLocaleString('en')} records together: send the same body with \`cursor\` until \`meta.next_cursor\` is null. With \`Accept: text/csv\` it returns the rows as CSV, with a \`Link\` to the next page.`,
    parameters: [
      'simulation_cursor',
      'simulated_affiliate',
      'simulation_all',
      'simulation_for_all',
    ],
    body: { schema: bodySchema() },
    answers: {
      200: {
        description: 'One page of differences.',
        schema: ref('Simulation'),
        type: ['application/json', 'text/csv'],
        headers: ['Link'],
      },
    },
  })
