import { readdirSync, readFileSync } from 'node:fs'
import { assignment } from '../../src/commission/plans/assignments.ts'
import { conditions } from '../../src/commission/plans/conditions.ts'
import { PLAN_LIMITS } from '../../src/commission/plans/limits.ts'
import { planTerms, rule, tiers } from '../../src/commission/plans/plan.ts'
import { factTerm, term, unit } from '../../src/commission/plans/terms.ts'
import { convertedTogether, type JsonSchema } from './types.ts'

/** The rules of a plan that no keyword of JSON Schema expresses. */
const RULES = {
  duplicate: 'Ids of rules, names of the terms of a base and `effective_from` occur once.',
  unknown_reference: '`of` names earlier terms; `recoups` and `by.once` name a `once` rule.',
  choice: 'A rule has exactly one of `amount`, `percent` and `tiers`.',
  not_applicable: 'A member must apply to its kind of rule and to the vertical of the account.',
  order: 'The steps of `tiers` ascend.',
  pattern: 'Under `"terms": "current"`, `effective_from` is the first day of a period.',
  enum: 'The types of transactions are those of the vertical.',
  fixed_by_plan: '`period`, `currency` and `terms` are those of the other versions.',
  maximum: 'The minimum of a range must not exceed its maximum.',
  length: `A plan has at most ${PLAN_LIMITS.bytes} bytes of JSON.`,
}

const DESCRIPTIONS: Record<string, string> = {
  CommissionPlan: 'A version of a plan. Unknown members are errors.',
  PlanRule: 'A rule of a plan.',
  PlanTiers: 'Steps in place of a percentage or an amount.',
  PlanTerm: 'A term of a base: facts, a part of earlier terms, or a fixed amount.',
  PlanFactTerm: 'A term that sums facts.',
  PlanUnit: 'What a rule counts.',
  PlanConditions: 'Conditions on the customer and on the fact. All must hold.',
  Assignment: 'The plan that governs the customers of an affiliate from a day on.',
}

/** Returns the schemas of plans and assignments, by their names. `at` is the location of the names. */
export function planSchemas(at: string): Record<string, JsonSchema> {
  const all = convertedTogether(
    {
      CommissionPlan: planTerms,
      PlanRule: rule,
      PlanTiers: tiers,
      PlanTerm: term,
      PlanFactTerm: factTerm,
      PlanUnit: unit,
      PlanConditions: conditions,
      Assignment: assignment,
    },
    at,
  )
  return Object.fromEntries(
    Object.entries(all).map(([name, schema]) => [
      name,
      {
        description: DESCRIPTIONS[name],
        ...schema,
        ...(name === 'CommissionPlan' && { 'x-rules': RULES }),
      },
    ]),
  )
}

/** The folder of the template plans. */
export const TEMPLATE_FOLDER = 'examples/plans'

/** Returns the template plans by name. */
export const readTemplates = (): Record<string, unknown> =>
  Object.fromEntries(
    readdirSync(TEMPLATE_FOLDER)
      .sort()
      .map((file) => [
        file.replace('.json', ''),
        JSON.parse(readFileSync(`${TEMPLATE_FOLDER}/${file}`, 'utf8')),
      ]),
  )
