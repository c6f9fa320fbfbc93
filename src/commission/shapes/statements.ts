import * as v from 'valibot'
import { count, day, money, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { exactOptional, member, nullable } from '../../platform/validation/fields.ts'
import { CAUSE_LIMITS, PART_LIMITS } from '../limits.ts'

// What answers say of statements, their lines and their adjustments.

const text = v.string()
const decimal = (description: string) => nullable(money, description)
const version = described(() => v.pipe(v.number(), v.integer()))

/** The resource of a record. */
export const resource = described(() =>
  member(
    v.picklist(['customers', 'transactions', 'trading-activity', 'activities']),
    'The resource of the record.',
  ),
)

/** How a payment came back. */
export const returnedPayment = component('ReturnedPayment', () => ({
  payment: member(text, 'The reference of the payment.'),
  returned_on: member(day, 'The day on which it came back.'),
  reason: member(text, 'Why it came back.'),
}))

const hold = described(() =>
  v.object({
    rule: member(text, 'The id of the rule that waits.'),
    version: member(version, 'The version of the plan that has the rule.'),
    reason: member(v.picklist(['no_currency', 'fx_pending', 'fx_missing']), 'Why.'),
    currency: nullable(text, 'The currency without a rate.'),
    count: member(count, 'The number of records.'),
    sum: member(money, 'The sum of their amounts.'),
  }),
)

const carried = described(() => ({
  transferred: nullable(
    v.object({
      to: member(text, 'The plan that receives it.'),
      period: member(text, 'The period of that plan whose `opening` includes it.'),
      amount: member(money, 'The amount. It may be negative.'),
    }),
    'What is carried to another plan in place of `closing`: another plan has taken over all customers of the affiliate. Null if nothing does.',
  ),
  received: member(
    v.array(
      v.object({
        from: member(text, 'The plan that transferred it.'),
        period: member(text, 'The period of that plan.'),
        amount: member(money, 'The amount. It may be negative.'),
      }),
    ),
    'What other plans transferred, in the order of plan and period. `opening` includes it.',
  ),
}))

/** The members of a statement without its lines. */
export const statement = described(() => ({
  id: member(text, 'The id of the statement.'),
  affiliate_id: member(text, 'The affiliate.'),
  plan: member(text, 'The plan.'),
  period: member(text, 'The period: a month `2026-10`, or a week of ISO 8601 `2026-W41`.'),
  currency: member(text, 'The currency of all amounts.'),
  opening: member(
    money,
    'The `closing` of the period before, plus what other plans transferred: the amounts of `received`.',
  ),
  lines_sum: member(money, 'The sum of the lines.'),
  adjustments_sum: member(money, 'The sum of the adjustments.'),
  earned: member(money, 'The sum of lines and adjustments, without manual entries.'),
  manual_sum: member(money, 'The sum of the manual entries.'),
  total: member(money, 'The sum of lines, adjustments and manual entries.'),
  payable: member(money, 'What is to be paid.'),
  closing: member(money, 'What is carried to the next period.'),
  dropped: member(money, 'The negative balance that the plan writes off.'),
  ...carried,
  holds: member(v.array(hold), 'The records that wait for a rate or a currency.'),
  manual: member(
    v.array(
      v.object({
        id: member(text, 'The id of the entry.'),
        amount: member(money, 'The amount.'),
        reason: member(text, 'Why it was entered.'),
        reference: member(text, 'The reference of whoever entered it.'),
        at: member(time, 'When it was entered.'),
      }),
    ),
    'What the integrations team entered.',
  ),
  lines_total: member(count, 'The number of lines.'),
  adjustments_total: member(count, 'The number of adjustments.'),
  payable_on: member(day, 'The last day of the period + `hold_days`.'),
  status: member(
    v.picklist(['draft', 'approved', 'paid']),
    'A draft changes with its records until it is approved.',
  ),
  approved_at: nullable(time, 'When it was approved. Null for a draft.'),
  paid: nullable(
    v.object({
      reference: member(text, 'The reference of the payment.'),
      paid_on: member(day, 'The day of the payment.'),
    }),
    'How it was paid. Null until then, and after the payment came back.',
  ),
  returned: nullable(
    returnedPayment,
    'The payment of the statement that came back last. Null if none did.',
  ),
  hash: member(
    v.pipe(text, v.regex(/^[\da-f]{64}$/)),
    'The SHA-256 of the canonical JSON of the statement with all lines and adjustments, less `id`, `hash`, `status`, `approved_at`, `paid`, `returned`, `lines_total`, `adjustments_total`, `computed_at` and the numbers of parts.',
  ),
  computed_at: member(
    time,
    'When its content was computed: a run writes only drafts that have changed.',
  ),
}))

/** A line of a statement. */
export const line = component('StatementLine', () => ({
  id: member(text, 'The id of the line.'),
  rule: member(text, 'The id of the rule.'),
  version: member(version, 'The version of the plan that has the rule.'),
  kind: member(v.picklist(['once', 'share', 'unit', 'override']), 'The kind of the rule.'),
  scope: member(text, '`affiliate`, or `customer:`, `product:` or `affiliate:` and an id.'),
  base: decimal('The base, after a fence. Null if the rule has none.'),
  units: decimal('The units, before `each`. Null if the rule has none.'),
  measure: decimal('The measure of the tiers. Null without tiers.'),
  step: nullable(
    v.union([text, v.array(v.object({ from: text, part: text, rate: text }))]),
    'The tier that applies; under `slice` the part in each tier. Null without tiers.',
  ),
  rate: decimal('The percentage or the amount that applies. Null under `slice`.'),
  amount: member(money, 'What the line pays.'),
  carried_in: member(money, 'What the line took over from the period before.'),
  carried_out: member(money, 'What the line leaves to the next period.'),
  capped: member(money, 'What caps cut off.'),
  recouped: member(money, 'What was deducted to recover the CPA.'),
  deficit: member(money, 'The deficit of an advance after the period.'),
  fence: nullable(
    v.object({
      base: member(money, 'The base before.'),
      paid_back: member(
        money,
        'What later revenue of customers recovered of their ring-fenced losses.',
      ),
      fenced: member(money, 'The losses that were ring-fenced in this period.'),
    }),
    'What the fence of the rule did. Null without one.',
  ),
  fx: member(
    v.array(
      v.object({
        currency: member(text, 'An ISO 4217 code.'),
        amount: member(money, 'The sum in this currency.'),
        converted: member(money, 'The sum in the currency of the plan.'),
      }),
    ),
    'The amounts by currency, and what they were converted to.',
  ),
}))

const figures = v.record(v.string(), v.nullable(v.union([v.string(), v.number()])))

const cause = described(() => {
  const kind = <const K extends string>(name: K) => member(v.literal(name), 'What changed.')
  const customer_id = member(text, 'The customer.')
  const audit_id = member(text, 'The entry of the audit log.')
  const delivery_id = member(text, 'The delivery that changed it last.')
  return v.union([
    v.object({
      kind: kind('record'),
      resource,
      id: member(text, 'The id of the record.'),
      type: nullable(text, 'The transaction type or the name of the event. Null of other records.'),
      change: member(
        v.picklist(['added', 'approved', 'pending', 'declined', 'reversed', 'amount', 'changed']),
        'What became of it: it was added, got another state or amount, or changed otherwise.',
      ),
      customer_id,
      day: member(day, 'The day on which it lies or, if it moved, lay before.'),
      before: nullable(
        figures,
        'Its amount, currency and status, or its lots, as they were approved. Null: it was not stored, or waited.',
      ),
      after: nullable(figures, 'The same as they are now. Null if they are not known.'),
      delivery_id,
    }),
    v.object({ kind: kind('corrected_early'), customer_id, delivery_id }),
    v.object({
      kind: kind('rate'),
      currency: member(text, 'A currency whose rates were published later.'),
    }),
    v.object({
      kind: kind('setting'),
      action: member(text, 'The action in the audit log, such as `status.put`.'),
      customer_id: nullable(text, 'The customer whom it is about. Null: several.'),
      affiliate_id: nullable(
        text,
        'The affiliate that was configured, or has another parent. Null: none.',
      ),
      at: member(time, 'When it was changed.'),
      audit_id,
    }),
  ])
})

/** What changed since the last approval of a closed period. */
export const causes = described(() => ({
  causes: member(
    v.array(cause),
    `The records and settings that changed since the last approval; the first ${CAUSE_LIMITS.listed}.`,
  ),
  causes_total: member(
    count,
    `The number of causes. It counts up to ${CAUSE_LIMITS.counted.toLocaleString('en')}.`,
  ),
}))

/** A correction of a line of a closed period. */
export const adjustment = component('Adjustment', () => ({
  id: member(text, 'The id of the adjustment.'),
  of: member(
    v.object({
      period: member(text, 'The closed period.'),
      line: nullable(
        text,
        'The line. Null: a part of the correction reverses what a statement wrote off.',
      ),
      dropped_in: nullable(
        text,
        'The period of the statement that wrote it off. Null if `line` is set.',
      ),
    }),
    'What it corrects.',
  ),
  rule: nullable(text, 'The id of the rule of the line.'),
  version: nullable(version, 'The version of the plan that has the rule.'),
  scope: nullable(text, 'The scope of the line.'),
  occurrence: member(count, 'The number of earlier lines with the same rule, version and scope.'),
  amount: member(
    money,
    'The difference between the line as it is now and what was approved of it.',
  ),
  ...causes,
}))

const lines = described(() =>
  member(v.array(line), `The lines, at most ${PART_LIMITS.lines} of them.`),
)
const adjustments = described(() =>
  member(v.array(adjustment), 'Corrections of lines of closed periods.'),
)

/** A statement of a list. */
export const listedStatement = component('ListedStatement', () => ({
  ...statement,
  earned_before: exactOptional(
    money,
    'With `order=change`: the `earned` of the same affiliate and plan in the period before.',
  ),
}))

/** A statement with a part of its lines and adjustments. */
export const statementInFull = component('StatementInFull', () => ({
  ...statement,
  lines,
  adjustments,
  part: member(count, 'The part of the lines.'),
  parts: member(count, 'The number of parts.'),
}))

const currency = described(() => member(text, 'An ISO 4217 code.'))
const statements = described(() => member(count, 'The number of statements.'))
const paying = described(() => member(count, 'The number of statements whose `payable` is not 0.'))
const earned = described(() => member(money, 'The sum of `earned`.'))
const is_limited = described(() =>
  member(v.boolean(), 'Whether there may be more statements than are added up.'),
)
/** Statements that are added up. */
export const statementTotals = component('StatementTotals', () => ({
  data: member(
    v.array(
      v.object({
        status: statement.status,
        currency: statement.currency,
        statements,
        with_holds: member(
          count,
          'The number of statements with records that wait for a rate or a currency.',
        ),
        paying,
        earned,
        payable: member(money, 'The sum of `payable`.'),
      }),
    ),
    'The sums, by status and currency.',
  ),
  is_limited,
}))

/** The statements of periods that are added up. */
export const periodSums = component('PeriodSums', () => ({
  data: member(
    v.array(
      v.object({
        period: statement.period,
        status: statement.status,
        currency: statement.currency,
        statements,
        paying,
        earned,
        total: member(money, 'The sum of `total`.'),
        computed_at: member(time, 'When the latest of them was computed.'),
      }),
    ),
    'The sums, by period, status and currency, the latest period first.',
  ),
  is_limited,
  due: member(
    v.array(
      v.object({
        currency,
        affiliates: member(count, 'The number of affiliates.'),
        statements,
        amount: member(money, 'The sum of `payable`.'),
      }),
    ),
    'What is payable today, by currency: approved statements that are not paid, and not under way in a batch.',
  ),
}))

/** The progress of a run. */
export const run = component('Run', () => ({
  id: member(text, 'The id of the run.'),
  period: member(text, 'The period.'),
  status: member(
    v.picklist(['running', 'done', 'failed']),
    'A `failed` run gave up after many attempts. What it had stored stays.',
  ),
  affiliates: nullable(count, 'The number of affiliates. Null until it is known.'),
  steps: nullable(count, 'The number of steps. Null until it is known.'),
  steps_done: member(count, 'The number of steps that are done.'),
  started_at: member(time, 'When it was started.'),
  active_at: member(
    time,
    'When it last showed that it is working. A run that stops for 20 minutes fails.',
  ),
  ended_at: nullable(time, 'When it ended. Null while it runs.'),
  reason: nullable(text, 'Why it failed, in words. Null unless it has.'),
}))
