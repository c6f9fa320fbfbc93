import { REASONS } from '../../../src/commission/engine/reasons.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { derivedSchemas } from './derived.ts'
import { ref } from './operation.ts'
import { COUNT, DAY, oneOf, orNull, TEXT } from './shapes.ts'
import { STEP } from './why-steps.ts'

const ADJUSTMENT = derivedSchemas().Adjustment?.properties as Record<
  'causes' | 'causes_total',
  JsonSchema
>

const maybe = (description: string) => documented(description, orNull(TEXT))
const list = (description: string, items: JsonSchema) =>
  documented(description, { type: 'array', items })

const resource = documented(
  'The resource of the record.',
  oneOf('customers', 'transactions', 'trading-activity', 'activities'),
)

const CAUSE = {
  reason: documented('`counted`, or the reason why not.', oneOf('counted', ...REASONS)),
  plan: maybe('The plan of the rule. Null if no rule decided.'),
  version: documented('The version of the plan.', orNull(COUNT)),
  rule: maybe('The rule that decided.'),
  condition: maybe(
    'The condition that did not hold: one of `when`, such as `not_countries`; `months`; `min`, `trigger`, `before_signup`, `rate`, `reversed`, `void_by`, `elsewhere` or `qualify/0` of a `once` rule.',
  ),
}

const PROGRESS = {
  reached: documented(
    'What the sum or count of the condition `qualify/0` has reached; `min` for a sum with `"at": "end"` that is reached while its window is open. For the condition `min`: the amount of the record in the currency of the plan.',
  ),
  min: documented('What it must reach.'),
  until: documented(
    'The last day on which it can be reached, if the condition has `within_days`. For the condition `trigger`: the last day on which the customer can qualify, if there is one.',
    DAY,
  ),
}
const RECORD_CAUSE = object({ ...CAUSE, ...PROGRESS }, ['reached', 'min', 'until'])

const SUMS = documented('The sums of the amounts, by field.', {
  type: 'object',
  additionalProperties: TEXT,
})

/** What the records of a group, or one record, are called in their resource. */
const NAMES = {
  transaction_type: maybe('The type of transactions. Null of other records.'),
  eventname: maybe('The name of events. Null of other records.'),
}

const GROUP = object({
  ...CAUSE,
  resource,
  ...NAMES,
  currency: maybe('The currency of the amounts.'),
  count: documented('The number of records.', COUNT),
  sums: SUMS,
})

const RECORD_REF = {
  resource,
  id: documented('The id of the record.'),
  day: documented('Its day.', DAY),
}

const CONDITION = object({
  condition: { description: 'The condition as the plan has it.' },
  status: documented(
    'Whether it is met. `failed`: its window closed before. `waiting`: a record has no rate.',
    oneOf('met', 'open', 'failed', 'waiting'),
  ),
  met_on: documented('The day on which it was met.', orNull(DAY)),
  reached: maybe(
    'What the sum or count has reached; `min` for a sum with `"at": "end"` that is reached while its window is open.',
  ),
  min: maybe('What it must reach.'),
  missing: maybe('What is missing to reach `min`.'),
  until: documented('The last day of its window. Null if it has none.', orNull(DAY)),
  fails: maybe('The condition on the customer that does not hold, such as `kyc`.'),
})

const anyOrNull = (description: string, schema: JsonSchema): JsonSchema => ({
  description,
  anyOf: [schema, { type: 'null' }],
})

const CORRECTION = object({
  id: documented('The id of the adjustment.'),
  statement: documented('The id of its statement.'),
  period: documented('The period of its statement.'),
  status: documented('The status of its statement.', oneOf('draft', 'approved', 'paid')),
  amount: documented('Its amount.'),
})

const CLOSED = documented(
  'What was approved, if the period is closed.',
  object({
    statement: documented('The id of the statement of the period.'),
    amount: maybe('The amount of the line. Null: no approved statement has the line.'),
    adjustments: list('Corrections of the line in statements of later periods.', CORRECTION),
  }),
)

const RECORD_ADJUSTMENT = object({
  affiliate_id: documented('The affiliate.'),
  plan: documented('The plan.'),
  id: documented('The id of the adjustment.'),
  statement: documented('The id of its statement.'),
  period: documented('The period of its statement.'),
  status: documented('The status of its statement.', oneOf('draft', 'approved', 'paid')),
  amount: documented('Its amount.'),
  of: documented(
    'What it corrects.',
    object({
      period: documented('The closed period.'),
      line: maybe('The line. Null: the adjustment reverses what a statement wrote off.'),
    }),
  ),
})

const EXPLAINED = {
  affiliate_id: documented('The affiliate.'),
  plan: documented('The plan.'),
  period: documented('The period.'),
  currency: documented('The currency of the plan.'),
  line: documented('The line, without its id.', { type: 'object' }),
  steps: list('How the line came about, in order.', ref('ExplanationStep')),
  stored: documented(
    'What the stored draft says, if records have changed since and the amount differs.',
    object({
      amount: documented('The amount of the line.'),
      computed_at: documented('When the statement was computed.'),
    }),
  ),
  closed: CLOSED,
}

/** The schemas of explanations and of what earned nothing. */
export const WHY_SCHEMAS: Record<string, JsonSchema> = {
  ExplanationStep: STEP,
  LineExplanation: object(
    {
      id: documented('The id of the line.'),
      ...EXPLAINED,
    },
    ['stored', 'closed'],
  ),
  AdjustmentExplanation: object({
    id: documented('The id of the adjustment.'),
    affiliate_id: documented('The affiliate.'),
    plan: documented('The plan.'),
    period: documented('The period of the statement with the adjustment.'),
    currency: documented('The currency of the plan.'),
    of: documented(
      'What it corrects.',
      object({
        period: documented('The closed period.'),
        line: maybe('The line. Null: the adjustment reverses what a statement wrote off.'),
        dropped_in: maybe('The period of the statement that wrote it off. Null if `line` is set.'),
      }),
    ),
    approved: documented(
      'What was approved before.',
      object({
        statement: documented('The id of the statement of the closed period.'),
        amount: maybe(
          'The amount of the line, or what the period wrote off. Null: no approved statement has the line.',
        ),
        earlier: list('Corrections of it in statements of earlier periods.', CORRECTION),
        total: documented('The sum of both.'),
      }),
    ),
    now: anyOrNull(
      'The corrected line as it is computed now, with the rates that were known at the approval. Null if it is no longer a line.',
      object(EXPLAINED, ['stored', 'closed']),
    ),
    amount: documented('The amount of the adjustment.'),
    causes: ADJUSTMENT.causes,
    causes_total: ADJUSTMENT.causes_total,
  }),
  Explanation: { anyOf: [ref('LineExplanation'), ref('AdjustmentExplanation')] },
  LinePart: {
    anyOf: [
      object({
        customer_id: documented('The customer.'),
        records: documented('The number of records that the line counts.', COUNT),
        base: maybe('What they add to the base before a fence. Null if the line has none.'),
        units: maybe('What they add to the units. Null if the line has none.'),
      }),
      object({
        affiliate_id: documented('The affiliate in whose statement the line stands.'),
        line_id: documented('The id of the line.'),
        plan: documented('The plan of its statement.'),
        period: documented('The period of its statement.'),
        rule: documented('The rule that made it.'),
        version: documented('The version of the plan.', { type: 'integer' }),
        scope: documented('What it pays for.'),
        currency: documented('The currency of the amount.'),
        amount: documented('What it pays.'),
      }),
    ],
  },
  LineRecord: object({
    ...RECORD_REF,
    at: maybe('The instant. Null for whole days.'),
    type: maybe('The transaction type or the name of the event.'),
    currency: maybe('The currency.'),
    amounts: SUMS,
    base: maybe('What it adds to the base, converted by itself.'),
    units: maybe('What it adds to the units.'),
    delivery_id: maybe('The delivery that last changed the record.'),
  }),
  UnearnedGroup: GROUP,
  Unearned: object({
    period: documented('The period.'),
    data: list('The records that no line counts, each in one group.', ref('UnearnedGroup')),
    rules: list(
      'What each rule does not count. A record that one rule counts and another does not is listed, too.',
      ref('UnearnedGroup'),
    ),
    counted: list(
      'The records that a line counts. Together with `data`, without `held`, these are the control totals.',
      object({
        resource,
        ...NAMES,
        currency: maybe('The currency of the amounts.'),
        count: documented('The number of records.', COUNT),
        sums: SUMS,
      }),
    ),
  }),
  UnearnedRecord: object(
    {
      ...RECORD_REF,
      ...NAMES,
      ...CAUSE,
      ...PROGRESS,
      customer_id: documented('The customer.'),
      affiliate_id: maybe('The affiliate of the customer on that day.'),
      currency: maybe('The currency of the amounts.'),
      amounts: SUMS,
      rules: list('What each rule that names the record makes of it.', RECORD_CAUSE),
    },
    ['reached', 'min', 'until'],
  ),
  Qualification: object({
    customer_id: documented('The customer.'),
    affiliate_id: maybe('The affiliate of the trigger, or the present one while there is none.'),
    plan: documented('The plan.'),
    version: documented('The version of the plan.', COUNT),
    rule: documented('The `once` rule.'),
    status: documented(
      '`failed`: a window closed. `refused`: a condition does not hold, or the trigger was reversed.',
      oneOf('qualified', 'waiting', 'failed', 'refused'),
    ),
    qualified_on: documented('The day of the qualification.', orNull(DAY)),
    trigger: anyOrNull('The record that triggers the rule.', object(RECORD_REF)),
    missing: list('What is missing: `trigger`, `rate`, or conditions as `qualify/0`.', TEXT),
    closed: anyOrNull(
      '`failed`: the window that closed first.',
      object({
        window: documented('`months`, or a condition as `qualify/0`.'),
        until: documented('Its last day.', DAY),
      }),
    ),
    until: documented(
      '`waiting`: the last day on which the customer can qualify. Null if there is no limit.',
      orNull(DAY),
    ),
    refused_by: maybe(
      '`reversed`, `void_by`, `refused`, `other_version`, a condition as `qualify/0`, or why the trigger belongs to no plan. While a rule with `requalify` waits for another trigger: `void_by`, if it took back `trigger`.',
    ),
    conditions: list('The conditions of `qualify`, in order.', CONDITION),
    before_signup: list(
      'Sentences that name records that are too early before the signup to count for the rule, such as `1 deposit of 500 EUR is more than 24 hours before the signup`. Empty if it is `qualified`.',
      TEXT,
    ),
    waits_for: list(
      'Records without a rate or a currency.',
      object({
        ...RECORD_REF,
        reason: documented('Why.', oneOf('no_currency', 'fx_pending', 'fx_missing')),
      }),
    ),
  }),
  RecordEarnings: object({
    ...RECORD_REF,
    customer_id: documented('The customer.'),
    affiliate_id: maybe('The affiliate of the customer on that day.'),
    state: documented('`counted`, or why no line counts it.', RECORD_CAUSE),
    lines: list(
      'The lines that count it. Those of closed periods use the rates that were known at the approval.',
      object(
        {
          line_id: documented('The id of the line.'),
          affiliate_id: documented('The affiliate that earns.'),
          plan: documented('The plan.'),
          version: documented('Its version.', COUNT),
          rule: documented('The rule.'),
          kind: documented('The kind of the rule.', oneOf('once', 'share', 'unit', 'override')),
          period: documented('The period of the line.'),
          scope: documented('The scope of the line.'),
          base: maybe('What it adds to the base, in the currency of the plan.'),
          units: maybe('What it adds to the units.'),
          currency: documented('The currency of the plan.'),
          as: documented(
            'The role in which it counts.',
            oneOf('base', 'units', 'trigger', 'qualification'),
          ),
          closed: CLOSED,
        },
        ['closed'],
      ),
    ),
    adjustments: list(
      'The adjustments that name it as a cause, in stored statements.',
      RECORD_ADJUSTMENT,
    ),
    rules: list('What each rule of its plan that names it makes of it.', RECORD_CAUSE),
  }),
  CustomerLines: object({
    customer_id: documented('The customer.'),
    period: documented('The period.'),
    data: list(
      'The lines, by affiliate, plan, period and rule.',
      object({
        statement_id: documented('The id of the statement.'),
        line_id: documented('The id of the line.'),
        affiliate_id: documented('The affiliate that earns.'),
        plan: documented('The plan.'),
        version: documented('Its version.', COUNT),
        rule: documented('The rule.'),
        kind: documented('The kind of the rule.', oneOf('once', 'share', 'unit', 'override')),
        period: documented('The period of the line.'),
        scope: documented('The scope of the line.'),
        currency: documented('The currency of the plan.'),
        records: documented('How many records of the customer it counts.', COUNT),
        base: maybe('What they add to the base, in the currency of the plan.'),
        units: maybe('What they add to the units.'),
      }),
    ),
  }),
}
