import { typeWord } from '../plans/plan-words.ts'
import type { Cause, RecordCause } from '../run/cause.ts'
import type { Adjustment } from '../run/draft.ts'
import { parseScope } from '../run/line-groups.ts'
import { capital } from '../words/english.ts'
import { ENGLISH, isMessageName, type Words } from '../words/words.ts'

// Why a statement corrects a closed period, as a manager and an affiliate read it: a sentence, and what stands behind it.

/** Says what changed: `The deposit of 3 Nov 2026 was charged back`. */
export const causeSentence = (cause: Cause, words: Words): string => capital(clauseOf(cause, words))

function clauseOf(cause: Cause, words: Words): string {
  const { text } = words
  switch (cause.kind) {
    case 'record':
      return cause.resource === 'customers'
        ? text(cause.change === 'added' ? 'cause.customer.added' : 'cause.customer.changed')
        : recordClause(cause, words)
    case 'rate':
      return text('cause.rate', { currency: cause.currency })
    case 'setting': {
      const name = `setting.${cause.action.slice(0, cause.action.lastIndexOf('.'))}`
      const affiliate = cause.affiliate_id ?? ''
      const setting = text(isMessageName(name) ? name : 'setting.other', { affiliate })
      return text('cause.setting', { setting, day: words.day(cause.at.slice(0, 10)) })
    }
    case 'corrected_early':
      return text('cause.corrected_early')
  }
}

function recordClause(cause: RecordCause, words: Words): string {
  const { resource, id, type, day } = cause
  const what =
    resource === 'transactions'
      ? typeWord(type ?? '', 1, words)
      : resource === 'activities'
        ? words.text('kind.event', { event: type ?? '', count: 1 })
        : // The id of trading activity has the day, the customer, the instrument and the currency.
          words.text('cause.trading', { instrument: id.split('|')[2] ?? '' })
  const [before, after] = [cause.before, cause.after].map((one) => figuresWords(one, words))
  const isShown = cause.change !== 'amount' || (before && after)
  return words.text(`cause.record.${isShown ? cause.change : 'changed'}`, {
    what,
    day: words.day(day),
    before: before ?? '',
    after: after ?? '',
  })
}

/** Writes the amount of a record, or its lots. An affiliate may not see it. */
function figuresWords(figures: RecordCause['before'] | undefined, words: Words): string {
  if (!figures) return ''
  const { lots_traded: lots, amount_currency, amount = amount_currency, currency } = figures
  if (lots != null) {
    return `${words.figure(String(lots))} ${words.text('unit.lots', { count: Number(lots) })}`
  }
  return amount == null ? '' : words.money(String(amount), String(currency))
}

/** Returns the ids of what changed, which its sentence leaves out. Only those of transactions have no customer in them. */
export const causeIds = (cause: Cause): string[] => [
  ...(cause.kind === 'record' && cause.resource === 'transactions' ? [cause.id] : []),
  ...('customer_id' in cause && cause.customer_id !== null ? [cause.customer_id] : []),
]

/** Says what changed, with its ids and the delivery or the entry of the audit log that changed it. */
export function causeEvidence(cause: Cause, words: Words): string {
  const by =
    'delivery_id' in cause ? [cause.delivery_id] : 'audit_id' in cause ? [cause.audit_id] : []
  const ids = [...causeIds(cause), ...by]
  return [causeSentence(cause, words), ids.join(', ')].filter(Boolean).join(': ')
}

/** Says in one sentence why a period is corrected. */
export function correctionSentence(
  {
    of,
    amount,
    causes: [first],
    causes_total: total,
  }: Pick<Adjustment, 'of' | 'amount' | 'causes' | 'causes_total'>,
  words: Words = ENGLISH,
): string {
  const { text } = words
  if (of.dropped_in !== null) {
    const period = words.period(of.dropped_in)
    return `${text(amount.startsWith('-') ? 'correction.cover' : 'correction.uncover', { period })}.`
  }
  const cause = first ? causeSentence(first, words) : text('correction.unknown')
  return `${total > 1 ? text('correction.more', { cause, count: total - 1 }) : cause}.`
}

/** Says which line a correction changes, and by how much. */
export function correctedLine(
  { rule, scope }: { readonly rule: string; readonly scope: string },
  amount: string,
  words: Words,
): string {
  const { of, id } = parseScope(scope)
  const named = words.text('quoted', { name: rule })
  return words.text(`correction.${of}`, { amount, id, rule: named })
}
