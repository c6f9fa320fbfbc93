import * as v from 'valibot'
import type { Fixed } from '../../platform/http/operation-words.ts'
import { count, day } from '../../platform/validation/answer-fields.ts'
import { described, named } from '../../platform/validation/described.ts'
import { member, nullable } from '../../platform/validation/fields.ts'
import { figure, maybe, stepOf } from '../plans/modifiers/modifier.ts'
import { ALL_MODIFIERS } from '../plans/modifiers/order.ts'
import type { Qualification } from '../plans/types.ts'
import type { LineJson } from './line-json.ts'
import { resource } from './statements.ts'

// The steps of an explanation, in the order in which they are applied. All figures are decimal text.

const text = described(() => v.string())
const list = <const S extends v.GenericSchema>(description: string, items: S) =>
  member(v.array(items), description)

const rates = described(() =>
  list(
    'The rates that were used: units of each currency but the euro for one euro. Empty if none was needed.',
    v.object({
      currency: member(text, 'An ISO 4217 code.'),
      rate: figure('Units of the currency for one euro.'),
      day: nullable(day, 'The day that it was published for. Null if that is not known.'),
    }),
  ),
)

const record = described(() =>
  v.object({
    resource,
    id: member(text, 'The id of the record.'),
    day: member(day, 'Its day.'),
    at: maybe('Its instant. Null for whole days.'),
    amount: maybe('The amount that counts, as sent.'),
    currency: maybe('The currency of the amount.'),
    converted: maybe('The amount in the currency of the plan, with `times`.'),
  }),
)

const base = described(() =>
  stepOf('base', 'The base: the sum of the `value` of its terms.', {
    records: member(count, 'The number of different records that it counts.'),
    customers: member(count, 'The number of their customers.'),
    terms: list(
      'The terms, in order. Empty if they are too many to be stored with the line.',
      v.object({
        term: member(v.unknown(), 'The term as the plan has it.'),
        currencies: list(
          'What was sent, by currency. Empty for a `fixed` term and a part of other terms.',
          v.object({
            currency: member(text, 'An ISO 4217 code.'),
            count: member(count, 'The number of records.'),
            amount: figure('The sum of their amounts.'),
            converted: figure('The sum in the currency of the plan.'),
            days: list(
              'What rates convert, by day. Empty if nothing is converted, or if the days are too many to be stored with the line.',
              v.object({
                day: member(day, 'The day.'),
                rates,
                sums: member(
                  count,
                  'The number of sums (one for each customer and product) that were converted and rounded to 12 places apart.',
                ),
                amount: figure('The sum of the amounts.'),
                converted: figure('What they were converted to.'),
              }),
            ),
            by_amount_usd: nullable(
              v.object({ amount: text, converted: text }),
              'What was converted by the `amount_usd` of the records. Null if nothing was.',
            ),
          }),
        ),
        sum: figure('What its records sum to, or the terms that `of` names.'),
        times: figure('The factor.'),
        value: figure('`sum` × `times`.'),
      }),
    ),
    base: figure('The base.'),
  }),
)

const units = described(() =>
  stepOf('units', 'What is paid for: units divided by `each`.', {
    records: member(count, 'The number of records (of an override of `once`: of lines).'),
    customers: member(count, 'The number of their customers.'),
    unit: member(v.unknown(), 'What is counted, as the plan has it.'),
    units: figure('The units.'),
    each: figure('The divisor.'),
    quantity: figure('`units` ÷ `each`, with at most 12 places.'),
  }),
)

const trigger = described(() =>
  stepOf('trigger', 'The record that triggers a `once` rule.', {
    record: record,
    rates,
    min: maybe('The least amount. Null if the rule has none.'),
  }),
)

/** A condition of `qualify`. */
export const qualifyCondition = described(() =>
  member(v.unknown() as v.GenericSchema<Qualification>, 'The condition as the plan has it.'),
)

const qualification = described(() =>
  stepOf('qualification', 'How the customer qualified.', {
    conditions: list(
      'The conditions of `qualify`, in order.',
      v.object({
        condition: qualifyCondition,
        met_on: member(day, 'The day on which it was met.'),
        met_at: member(text, 'The instant.'),
        reached: maybe('What the sum or count had reached.'),
        min: maybe('What it had to reach.'),
        records: list('The first 10 of its records.', record),
        records_total: member(count, 'The number of its records.'),
      }),
    ),
    qualified_on: member(day, 'The day of the qualification: the latest of all.'),
    qualified_at: member(text, 'The instant.'),
  }),
)

const sources = described(() =>
  stepOf('sources', 'The lines of an affiliate below that an override pays for.', {
    affiliate_id: member(text, 'The affiliate below.'),
    sources: list(
      'The lines by statement and rule.',
      v.object({
        plan: member(text, 'The plan.'),
        period: member(text, 'The period.'),
        rule: member(text, 'The rule.'),
        version: member(count, 'The version of the plan.'),
        currency: member(text, 'The currency of the plan.'),
        lines: member(count, 'The number of lines.'),
        amount: figure('What they pay.'),
      }),
    ),
    conversions: list(
      'The sums by currency, converted on the last day of the period.',
      v.object({
        currency: member(text, 'The currency.'),
        amount: figure('The sum.'),
        rates: rates,
        converted: maybe('What it was converted to. Null if there is no rate: it waits.'),
        reason: nullable(
          v.picklist(['no_currency', 'fx_pending', 'fx_missing']),
          'Why there is no rate.',
        ),
      }),
    ),
    sum: figure('The sum, or the number of lines.'),
  }),
)

const funded = described(() =>
  stepOf('funded', "An upline's line that this affiliate pays for.", {
    affiliate_id: member(text, 'The upline.'),
    plan: member(text, 'Its plan.'),
    period: member(text, 'Its period.'),
    amount: figure('What its line pays.'),
    currency: member(text, 'The currency of its plan.'),
    rates: rates,
    converted: figure('The amount in the currency of this plan.'),
  }),
)

const floor = described(() =>
  stepOf('floor', 'A negative sum of an affiliate below counts 0.', {
    before: figure('The sum.'),
    after: figure('What counts.'),
  }),
)

const measure = described(() =>
  stepOf('measure', 'What the tiers measure: `earlier` + `own` + `network`.', {
    mode: member(v.picklist(['whole', 'slice']), 'How the tiers apply.'),
    by: member(v.unknown(), 'What is measured, as the plan has it. Null: what the rule pays for.'),
    over: member(v.picklist(['own', 'network']), 'Whose facts are measured.'),
    window: member(v.picklist(['period', 'quarter', 'lifetime']), 'The periods that are measured.'),
    earlier: figure('The measure of earlier periods of the window.'),
    own: figure('The measure of this period.'),
    network: figure('That of the affiliates below.'),
    measure: figure('The measure, with at most 12 places.'),
    steps: list('The steps of the tiers.', v.object({ from: text, rate: text })),
    covered: maybe('Under `slice`: what earlier periods and lines before this one cover.'),
  }),
)

const rate = described(() =>
  stepOf('rate', 'What the rate makes of the base or the units.', {
    rate_is: member(v.picklist(['percent', 'amount']), 'What the rate is.'),
    parts: list(
      'One part, or under `slice` one for each step.',
      v.object({ quantity: text, rate: text, amount: text }),
    ),
    amount: figure('The amount before rounding.'),
    rounded: member(v.boolean(), 'Whether the amount has more digits than these.'),
  }),
)

const rounding = described(() =>
  stepOf('rounding', 'Rounding to the minor unit, half to even.', {
    digits: member(count, 'The decimal places of the currency.'),
    before: figure('The amount before.'),
    after: figure('The amount after.'),
  }),
)

/** A step of an explanation. */
export const step = described(() =>
  named(
    'ExplanationStep',
    v.union([
      base,
      units,
      trigger,
      qualification,
      sources,
      funded,
      floor,
      measure,
      rate,
      rounding,
      ...ALL_MODIFIERS.map((one) => one.step),
    ]),
  ),
)

/** A step of an explanation. */
export type Step = Fixed<v.InferOutput<typeof step>>

/** A step with a name. */
export type StepOf<N extends Step['step']> = Extract<Step, { readonly step: N }>

/** A correction of a line, in the statement of a later period. */
export const correction = described(() =>
  v.object({
    id: member(text, 'The id of the adjustment.'),
    statement: member(text, 'The id of its statement.'),
    period: member(text, 'The period of its statement.'),
    status: member(v.picklist(['draft', 'approved', 'paid']), 'The status of its statement.'),
    amount: member(text, 'Its amount.'),
  }),
)

/** A line and how it came about. */
export const correctedLine = described(() => ({
  line: member(
    v.custom<LineJson>(() => true, 'type object'),
    'The line, without its id.',
  ),
  steps: member(v.array(step), 'How the line came about, in order.'),
}))

/** How a line came about, without its id. */
export const explained = described(() => ({
  affiliate_id: member(text, 'The affiliate.'),
  plan: member(text, 'The plan.'),
  period: member(text, 'The period.'),
  currency: member(text, 'The currency of the plan.'),
  ...correctedLine,
  corrections: member(
    v.array(correction),
    'Corrections of the line in statements of later periods, if its own is approved.',
  ),
}))

/** A correction of a line, in the statement of a later period. */
export type Correction = Fixed<v.InferOutput<typeof correction>>

/** How a line came about: every step in the order in which it was applied (§14). */
export type Explanation = Fixed<v.InferOutput<v.ObjectSchema<typeof explained, undefined>>>
