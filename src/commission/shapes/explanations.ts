import * as v from 'valibot'
import type { Fixed } from '../../platform/http/operation-words.ts'
import { count, day } from '../../platform/validation/answer-fields.ts'
import { component, described, named } from '../../platform/validation/described.ts'
import { exactOptional, member, nullable } from '../../platform/validation/fields.ts'
import { REASONS } from './reasons.ts'
import { causes, resource } from './statements.ts'
import { correctedLine, correction, explained, qualifyCondition } from './steps.ts'

// What is answered about lines and records: the explanation of a line, and what a record earns or why it earns nothing.

const text = described(() => v.string())
const maybe = (description: string) => nullable(text, description)
const maybeDay = (description: string) => nullable(day, description)

const cause = described(() => ({
  reason: member(v.picklist(['counted', ...REASONS]), '`counted`, or the reason why not.'),
  plan: maybe('The plan of the rule. Null if no rule decided.'),
  version: nullable(count, 'The version of the plan.'),
  rule: maybe('The rule that decided.'),
  condition: maybe(
    'The condition that did not hold: one of `when`, such as `not_countries`; `months`; `min`, `trigger`, `before_signup`, `rate`, `qualify/0` or another `refused_by` of a `once` rule.',
  ),
}))

const outcomeMembers = described(() => ({
  ...cause,
  reached: exactOptional(
    text,
    'What the sum or count of the condition `qualify/0` has reached; `min` for a sum with `"at": "end"` that is reached while its window is open. For the condition `min`: the amount of the record in the currency of the plan.',
  ),
  min: exactOptional(text, 'What it must reach.'),
  until: exactOptional(
    day,
    'The last day on which it can be reached, if the condition has `within_days`. For the condition `trigger`: the last day on which the customer can qualify, if there is one.',
  ),
}))

/** What became of a record under a rule. */
export const outcome = described(() => v.object(outcomeMembers))

const sums = described(() =>
  member(v.record(v.string(), v.string()), 'The sums of the amounts, by field.'),
)

const names = described(() => ({
  transaction_type: maybe('The type of transactions. Null of other records.'),
  eventname: maybe('The name of events. Null of other records.'),
}))

const counted = described(() => ({
  resource,
  ...names,
  currency: maybe('The currency of the amounts.'),
  count: member(count, 'The number of records.'),
  sums,
}))

/** Records with the same outcome, type and currency. */
export const group = component('UnearnedGroup', () => ({ ...cause, ...counted }))

const recordKey = described(() => ({
  resource,
  id: member(text, 'The id of the record.'),
  day: member(day, 'Its day.'),
}))

const condition = described(() =>
  v.object({
    condition: qualifyCondition,
    status: member(
      v.picklist(['met', 'open', 'failed', 'waiting']),
      'Whether it is met. `failed`: its window closed before. `waiting`: a record has no rate.',
    ),
    met_on: maybeDay('The day on which it was met.'),
    reached: maybe(
      'What the sum or count has reached; `min` for a sum with `"at": "end"` that is reached while its window is open.',
    ),
    min: maybe('What it must reach.'),
    missing: maybe('What is missing to reach `min`.'),
    until: maybeDay('The last day of its window. Null if it has none.'),
    fails: maybe('The condition on the customer that does not hold, such as `kyc`.'),
  }),
)

const corrected = described(() => ({
  period: member(text, 'The closed period.'),
  line: maybe('The line. Null: the adjustment reverses what a statement wrote off.'),
}))

const adjustmentExplanation = component('AdjustmentExplanation', () => ({
  id: member(text, 'The id of the adjustment.'),
  affiliate_id: member(text, 'The affiliate.'),
  plan: member(text, 'The plan.'),
  period: member(text, 'The period of the statement with the adjustment.'),
  currency: member(text, 'The currency of the plan.'),
  of: member(
    v.object({
      ...corrected,
      dropped_in: maybe('The period of the statement that wrote it off. Null if `line` is set.'),
    }),
    'What it corrects.',
  ),
  approved: member(
    v.object({
      statement: member(
        text,
        'The id of the statement of the closed period, or of the one that wrote the amount off.',
      ),
      amount: maybe(
        'The amount of the line, or what the statement wrote off. Null: no approved statement has the line.',
      ),
      earlier: member(
        v.array(correction),
        'Corrections of it in statements of earlier periods, or what they covered of the amount that was written off.',
      ),
      total: member(text, 'The sum of both, or what was left of the amount that was written off.'),
    }),
    'What was approved before.',
  ),
  now: nullable(
    v.object(correctedLine),
    'The corrected line as the adjustment makes it, with the rates that were known at the approval. Null if it is no longer a line.',
  ),
  amount: member(text, 'The amount of the adjustment.'),
  ...causes,
}))

/** How an adjustment came about. */
export type AdjustmentExplanation = Fixed<v.InferOutput<typeof adjustmentExplanation>>

/** How a line or an adjustment came about. */
export const explanation = described(() =>
  named(
    'Explanation',
    v.union([
      component('LineExplanation', () => ({
        id: member(text, 'The id of the line.'),
        ...explained,
      })),
      adjustmentExplanation,
    ]),
  ),
)

/** What a customer adds to a line. */
export const linePart = component('LinePart', () => ({
  customer_id: member(text, 'The customer.'),
  records: member(count, 'The number of records that the line counts.'),
  base: maybe(
    'What they add to the base, each record converted by itself. Null if the line has none.',
  ),
  units: maybe('What they add to the units. Null if the line has none.'),
}))

/** What a customer adds to a line. */
export type LinePart = Fixed<v.InferOutput<typeof linePart>>

/** A record that a line counts. */
export const lineRecord = component('LineRecord', () => ({
  ...recordKey,
  at: maybe('The instant. Null for whole days.'),
  type: maybe('The transaction type or the name of the event.'),
  currency: maybe('The currency.'),
  amounts: sums,
  base: maybe('What it adds to the base, converted by itself.'),
  units: maybe('What it adds to the units.'),
  delivery_id: maybe('The delivery that last changed the record.'),
}))

/** A record that a line counts. */
export type LineRecord = Fixed<v.InferOutput<typeof lineRecord>>

/** The records of a period that no line counts, in groups. */
export const unearned = component('Unearned', () => ({
  period: member(text, 'The period.'),
  data: member(v.array(group), 'The records that no line counts, each in one group.'),
  rules: member(
    v.array(group),
    'What each rule does not count. A record that one rule counts and another does not is listed, too.',
  ),
  counted: member(
    v.array(v.object(counted)),
    'The records that a line counts. Together with `data`, without `held`, these are the control totals.',
  ),
}))

/** A record that no line counts. */
export const unearnedRecord = component('UnearnedRecord', () => ({
  ...recordKey,
  ...names,
  ...outcomeMembers,
  customer_id: member(text, 'The customer.'),
  affiliate_id: maybe('The affiliate of the customer on that day.'),
  currency: maybe('The currency of the amounts.'),
  amounts: sums,
  rules: member(v.array(outcome), 'What each rule that names the record makes of it.'),
}))

/** A customer under a `once` rule, as of the end of a period. */
export const qualification = component('Qualification', () => ({
  customer_id: member(text, 'The customer.'),
  affiliate_id: maybe('The affiliate of the trigger, or the present one while there is none.'),
  plan: member(text, 'The plan.'),
  version: member(count, 'The version of the plan.'),
  rule: member(text, 'The `once` rule.'),
  status: member(
    v.picklist(['qualified', 'waiting', 'failed', 'refused']),
    '`failed`: a window closed. `refused`: a condition does not hold, or the trigger was reversed.',
  ),
  qualified_on: maybeDay('The day of the qualification.'),
  trigger: nullable(v.object(recordKey), 'The record that triggers the rule.'),
  missing: member(
    v.array(text),
    'What is missing: `trigger`, `rate`, or conditions as `qualify/0`.',
  ),
  closed: nullable(
    v.object({
      window: member(text, '`months`, or a condition as `qualify/0`.'),
      until: member(day, 'Its last day.'),
    }),
    '`failed`: the window that closed first.',
  ),
  until: maybeDay(
    '`waiting`: the last day on which the customer can qualify. Null if there is no limit.',
  ),
  refused_by: maybe(
    '`reversed`, `void_by`, `refused`, `other_version`, a condition as `qualify/0`, or why the trigger belongs to no plan. While a rule with `requalify` waits for another trigger: `void_by`, if it took back `trigger`.',
  ),
  conditions: member(v.array(condition), 'The conditions of `qualify`, in order.'),
  before_signup: member(
    v.array(v.object(recordKey)),
    'Records that would count for the rule, were they not too early before the signup. Empty if it is `qualified`.',
  ),
  waits_for: member(
    v.array(
      v.object({
        ...recordKey,
        reason: member(v.picklist(['no_currency', 'fx_pending', 'fx_missing']), 'Why.'),
      }),
    ),
    'Records without a rate or a currency.',
  ),
}))

/** What a record earns. */
export const recordEarnings = component('RecordEarnings', () => ({
  ...recordKey,
  customer_id: member(text, 'The customer.'),
  affiliate_id: maybe('The affiliate of the customer on that day.'),
  state: member(outcome, '`counted`, or why no line counts it.'),
  lines: member(
    v.array(
      v.object({
        line_id: member(text, 'The id of the line.'),
        affiliate_id: member(text, 'The affiliate that earns.'),
        plan: member(text, 'The plan.'),
        version: member(count, 'Its version.'),
        rule: member(text, 'The rule.'),
        kind: member(v.picklist(['once', 'share', 'unit', 'override']), 'The kind of the rule.'),
        period: member(text, 'The period of the line.'),
        scope: member(text, 'The scope of the line.'),
        currency: member(text, 'The currency of the plan.'),
        base: maybe('What is added to the base, in the currency of the plan.'),
        units: maybe('What is added to the units.'),
        as: member(
          v.picklist(['base', 'units', 'trigger', 'qualification']),
          'The role in which it counts.',
        ),
      }),
    ),
    'The lines that count it.',
  ),
  rules: member(v.array(outcome), 'What each rule of its plan that names it makes of it.'),
}))

/** What a record earns. */
export type RecordEarnings = Fixed<v.InferOutput<typeof recordEarnings>>
