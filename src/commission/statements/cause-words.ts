import { ENGLISH, isMessageName, type Words } from '../words/words.ts'
import type { Cause, Causes, RecordCause } from './cause.ts'
import type { Adjustment } from './draft.ts'
import { parseScope } from './line-groups.ts'

// Why a statement corrects a closed period, as a manager and an affiliate read it.

/** Names what changed, without the verb: `the transaction T-1 of C-1 on 3 Nov 2026`. */
export function causeWords(cause: Cause, words: Words): string {
  const { text, day } = words
  switch (cause.kind) {
    case 'record': {
      const { resource, id, customer_id: customer } = cause
      // The id of trading activity has the day, the customer, the instrument and the currency.
      const what = resource === 'trading-activity' ? (id.split('|')[2] ?? '') : id
      const named = text(`cause.${resource}`, { customer, id: what, day: day(cause.day) })
      const [before, after] = [figuresWords(cause.before, words), figuresWords(cause.after, words)]
      if (before === '' || after === '' || before === after) return named
      return text('cause.changed', { cause: named, before, after })
    }
    case 'affiliation':
      return text('cause.affiliation', { customer: cause.customer_id })
    case 'corrected_early':
      return text('cause.firstAffiliation', { customer: cause.customer_id })
    case 'refusal':
      return text('cause.refusal', { customer: cause.customer_id })
    case 'rate':
      return text('cause.rate', { currency: cause.currency })
    case 'tree':
      return text('cause.tree', { affiliate: cause.affiliate_id })
    case 'setting': {
      const name = `setting.${cause.action}`
      const setting = text(isMessageName(name) ? name : 'setting.other')
      return text('cause.setting', { setting, day: day(cause.at.slice(0, 10)) })
    }
  }
}

/** Writes the figures of a record: `100.00 EUR, approved`. Those that an affiliate may not see are missing. */
function figuresWords(figures: RecordCause['before'] | undefined, words: Words): string {
  if (!figures) return ''
  const { lots_traded: lots, amount_currency, amount = amount_currency, currency, status } = figures
  const parts = [
    lots != null &&
      `${words.figure(String(lots))} ${words.text('unit.lots', { count: Number(lots) })}`,
    amount != null && words.money(String(amount), String(currency)),
    status,
  ]
  return parts.filter(Boolean).join(', ')
}

/** Names what changed, with the delivery or the entry of the audit log that changed it. */
export function causeEvidence(cause: Cause, words: Words): string {
  const named = causeWords(cause, words)
  if ('delivery_id' in cause) {
    return words.text('evidence.delivery', { cause: named, id: cause.delivery_id })
  }
  return 'audit_id' in cause
    ? words.text('evidence.audit', { cause: named, id: cause.audit_id })
    : named
}

/** The causes that a sentence names. */
const NAMED = 3

/** Says why a period is corrected: `since the transaction T-1 of C-1 on 3 Nov 2026 changed`. */
function causesWords({ causes, causes_total }: Causes, words: Words): string {
  const named = [...new Set(causes.slice(0, NAMED).map((cause) => causeWords(cause, words)))]
  const more = causes_total - Math.min(causes.length, NAMED)
  if (named.length === 0) return words.text('correction.unknown')
  const rest = more > 0 ? [words.text('cause.more', { count: more })] : []
  return words.text('correction.why', { causes: words.and([...named, ...rest]) })
}

/**
 * Says what a correction corrects and why, after its amount: ` for the customer C-1 by the rule cpa, since …`.
 *
 * @param amount What stands before it.
 */
export function correctionWords(
  adjustment: Adjustment,
  amount = '',
  words: Words = ENGLISH,
): string {
  const { of, rule, scope } = adjustment
  if (of.line === null) {
    const period = words.period(of.dropped_in ?? of.period)
    return words.text('correction.cover', { amount, period })
  }
  const why = causesWords(adjustment, words)
  if (rule === null) return words.text('correction.line', { amount, why })
  const { of: kind, id } = parseScope(scope ?? '')
  const named = words.text('quoted', { name: rule })
  return words.text(`correction.${kind}`, { amount, id, rule: named, why })
}
