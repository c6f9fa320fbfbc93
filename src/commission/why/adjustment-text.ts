import type { Cause, Causes } from '../drafts/cause.ts'
import { CAUSE_LIMITS } from '../drafts/cause-list.ts'
import type { AdjustedLine } from '../drafts/draft.ts'
import { add, compare, decimal, fixedText } from '../engine/decimal.ts'
import { explanationText } from '../engine/explain-text.ts'
import type { Correction, Explanation } from '../engine/explanation.ts'
import { counted, figure, listed } from '../engine/sentences.ts'

/** What was approved of a closed line, or of what a period dropped. */
export interface Approved {
  readonly statement: string
  /** Null: the approved statement has no such line. */
  readonly amount: string | null
  /** Corrections in statements before that of the adjustment. */
  readonly earlier: readonly Correction[]
  readonly total: string
}

/** How an adjustment came about. */
export interface AdjustmentExplanation extends Causes {
  readonly id: string
  readonly affiliate_id: string
  readonly plan: string
  /** The period of the statement that has the adjustment. */
  readonly period: string
  readonly currency: string
  readonly of: AdjustedLine
  readonly approved: Approved
  /** The corrected line as it is computed now; null if it is no longer a line. */
  readonly now: Explanation | null
  readonly amount: string
}

/** Returns the sum of amounts of money, with the minor digits of the first. */
export function sumOfMoney(first: string, ...others: readonly string[]): string {
  const digits = first.split('.')[1]?.length ?? 0
  return fixedText(
    others.map(decimal).reduce((total, one) => add(total, one), decimal(first)),
    digits,
  )
}

function causeText(cause: Cause): string {
  switch (cause.kind) {
    case 'record': {
      const { resource, id, day, delivery_id } = cause
      return `the record ${id} (${resource}) of ${day}, by the delivery ${delivery_id}`
    }
    case 'affiliation': {
      const { customer_id, day, delivery_id, audit_id } = cause
      return day === null
        ? `the affiliates of the customer ${customer_id}, by the entry ${audit_id} of the audit log`
        : `the affiliate of the customer ${customer_id} from ${day} on, by the delivery ${delivery_id}`
    }
    case 'corrected_early':
      return `the affiliate of the customer ${cause.customer_id} from the signup on, since the first one lasted less than a day, by the delivery ${cause.delivery_id}`
    case 'customer_field': {
      const { customer_id, field, day, delivery_id } = cause
      return `the field ${field} of the customer ${customer_id} from ${day} on, by the delivery ${delivery_id}`
    }
    case 'refusal':
      return `the refusal of the customer ${cause.customer_id}, by the entry ${cause.audit_id} of the audit log`
    case 'rate':
      return `the rate of ${cause.currency} of ${cause.day}, which has since been ${cause.change}`
    case 'tree':
      return `the parent (or setup) of affiliate ${cause.affiliate_id}, by the entry ${cause.audit_id} of the audit log`
    default:
      return `the settings of the account: ${cause.action} at ${cause.at}, the entry ${cause.audit_id} of the audit log`
  }
}

/** Writes what changed, one cause a line. */
function causeSentences({ causes, causes_total }: Causes): string[] {
  if (causes.length === 0) return ['No cause was found: some changes are logged for 30 days only.']
  const more = causes_total - causes.length
  const atLeast = causes_total === CAUSE_LIMITS.counted ? 'at least ' : ''
  return [
    'These changes were stored after the last approval:',
    ...causes.map((cause) => `- ${causeText(cause)}`),
    ...(more > 0 ? [`- and ${atLeast}${counted(more, 'other change')}`] : []),
  ]
}

/** Writes the explanation of an adjustment in sentences. */
export function adjustmentText(explanation: AdjustmentExplanation): string {
  const { affiliate_id, plan, period, of, amount, currency } = explanation
  const title = `Adjustment of ${figure(amount)} ${currency} in ${period} for the affiliate ${affiliate_id} under the plan ${plan}`
  const sentences = of.line === null ? restoringSentences(explanation) : lineSentences(explanation)
  const lines = [title, '', ...sentences, '', ...causeSentences(explanation)]
  if (of.line !== null) lines.push('', ...nowSentences(explanation))
  return `${lines.join('\n')}\n`
}

const earlierText = ({ approved, currency }: AdjustmentExplanation): string =>
  listed(approved.earlier.map((one) => `${figure(one.amount)} ${currency} in ${one.period}`))

function restoringSentences(explanation: AdjustmentExplanation): string[] {
  const { of, approved, amount, currency } = explanation
  const money = (text: string): string => `${figure(text)} ${currency}`
  return [
    of.dropped_in === of.period
      ? `The plan wrote off ${money(approved.amount ?? '0')} in ${of.period}. A later positive correction of that period first covers this write-off.`
      : `The clawback for ${of.period} was partly written off in ${of.dropped_in}. The clawback is now reversed. The part that was written off is not paid.`,
    ...(approved.earlier.length > 0
      ? [`Covered by earlier statements: ${earlierText(explanation)}.`]
      : []),
    `${amount.startsWith('-') ? 'Kept back to cover the write-off' : 'Released again'}: ${money(amount.replace('-', ''))}.`,
  ]
}

function lineSentences(explanation: AdjustmentExplanation): string[] {
  const { of, approved, now, amount, currency } = explanation
  const money = (text: string): string => `${figure(text)} ${currency}`
  const corrected = sumOfMoney(approved.total, amount)
  const current = now?.line.amount ?? '0'
  const approvedText =
    approved.amount === null
      ? 'No statement with this line was approved'
      : `The approved statement says ${money(approved.amount)}`
  return [
    `The adjustment corrects a line of ${of.period}, which is closed. ${approvedText}.`,
    ...(approved.earlier.length > 0
      ? [
          `Earlier adjustments of this line: ${earlierText(explanation)}. Together that is ${money(approved.total)}.`,
        ]
      : []),
    `The line now comes to ${money(corrected)}. The difference is ${money(amount)}.`,
    ...(compare(decimal(current), decimal(corrected)) === 0
      ? []
      : [`Records have changed again since: the line is ${money(current)} as of now.`]),
  ]
}

const nowSentences = ({ now }: AdjustmentExplanation): string[] =>
  now === null
    ? ['No record counts for this line now.']
    : ['The line as it is computed now:', '', explanationText(now).trimEnd()]
