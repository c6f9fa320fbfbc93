import * as v from 'valibot'
import { type AffiliateHolds, sumByCurrency } from '../books/holds.ts'
import { dayText } from '../commission/engine/calendar.ts'
import { EXPIRE_DAYS } from '../platform/durations.ts'
import { count, day, money, time } from '../platform/validation/answer-fields.ts'
import { described, named, withMembers } from '../platform/validation/described.ts'
import { member } from '../platform/validation/fields.ts'
import type { StoredCase, StoredDecision, StoredNote, WholeCase } from './db/cases.ts'
import { parseSubjectKey } from './findings.ts'
import { type Figure, figures, subject } from './kind.ts'

// Cases on the wire.

/** What can become of a case. */
export const STATUSES = ['open', 'confirmed', 'dismissed', 'expired'] as const

/** How serious a case can be. */
export const SEVERITIES = ['low', 'medium', 'high'] as const

/** A case as lists show it. */
export const fraudCase = described(() =>
  named(
    'FraudCase',
    v.object({
      case_id: member(v.string(), 'The id of the case.'),
      rule: member(v.string(), 'The id of the rule that found it.'),
      name: member(v.string(), 'The display name of the rule.'),
      version: member(
        v.pipe(v.number(), v.integer(), v.minValue(1)),
        'The version of the rule that found it last.',
      ),
      kind: member(v.string(), 'The kind of the rule.'),
      subject,
      affiliate_id: member(v.string(), 'The affiliate that had the customers.'),
      severity: member(v.picklist(SEVERITIES), 'How serious it is.'),
      action: member(
        v.picklist(['flag', 'hold']),
        'Whether it holds payouts while it is open. Another version of the rule never makes it hold less.',
      ),
      status: member(
        v.picklist(STATUSES),
        `Whether it is open, was decided, or has expired: ${EXPIRE_DAYS} days without a decision and without a new record. A case that holds payouts does not expire.`,
      ),
      opened_at: member(time, 'When an evaluation first found it.'),
      opened_for: member(day, 'The day of the finding that opened it.'),
      last_evidence_for: member(day, 'The last day whose finding had a new record.'),
      figures,
      sentence: member(v.string(), 'The finding of that day in one sentence.'),
      evidence_total: member(
        count,
        'The number of its records. It only grows. Send it with a decision: `shown`.',
      ),
      keep_hold: member(v.boolean(), 'Whether it was confirmed and goes on holding payouts.'),
      decided_at: v.nullable(member(time, 'When it was decided, or null.')),
      waiting: member(
        v.boolean(),
        'Whether a person has decided it, or the end of its hold, and another person must decide the same.',
      ),
      amount_held: member(
        v.array(
          v.object({
            currency: member(v.string(), 'The currency.'),
            amount: member(money, 'The amount, a decimal.'),
          }),
        ),
        'What it holds of the payouts of the affiliate, by currency. Another case can hold the same payouts.',
      ),
    }),
  ),
)

const decision = described(() =>
  v.object({
    decision: member(v.picklist(['confirmed', 'dismissed']), 'The decision.'),
    reason: member(v.string(), 'Why.'),
    keep_hold: member(v.boolean(), 'Whether the case goes on holding payouts.'),
    refuse: member(v.array(v.string()), 'The customers who are refused with it.'),
    from: v.nullable(member(day, 'The day from which they are refused, or null.')),
    at: member(time, 'When it was made.'),
    ends_hold: member(
      v.boolean(),
      'Whether it ends the hold that an earlier decision kept: the case stays confirmed.',
    ),
    waiting: member(
      v.boolean(),
      'Whether another person must decide the same before it takes effect.',
    ),
  }),
)

const DECISIONS = described(
  () =>
    'The decisions, the first one first. Where two persons must decide, the first one alone leaves the case open.',
)

/** A case as the account itself reads it: without notes, and without who decided. */
export const ownFraudCase = described(() =>
  named(
    'OwnFraudCase',
    withMembers(fraudCase, { decisions: member(v.array(decision), DECISIONS) }),
  ),
)

/** A note of the team about a case. */
export const fraudNote = described(() =>
  named(
    'FraudNote',
    v.object({
      note_id: member(v.string(), 'The id of the note.'),
      text: member(v.string(), 'What was written.'),
      actor: member(v.string(), 'Who wrote it.'),
      at: member(time, 'When it was written.'),
    }),
  ),
)

/** A case as the team reads it. */
export const wholeFraudCase = described(() =>
  named(
    'WholeFraudCase',
    withMembers(fraudCase, {
      decisions: member(
        v.array(
          withMembers(decision, {
            evidence_total: member(count, 'The number of records that the case had.'),
            actor: member(v.string(), 'Who decided.'),
          }),
        ),
        DECISIONS,
      ),
      notes: member(v.array(fraudNote), 'What the team wrote about it, the oldest first.'),
    }),
  ),
)

const decidedAt = ({ decided_at }: StoredCase): string | null =>
  decided_at === null ? null : new Date(decided_at).toISOString()

/** Returns a case as lists show it. */
export function presentStoredCase(one: StoredCase, holds: AffiliateHolds | undefined) {
  const { rule, name, version, kind, affiliate_id, severity, action, status, sentence } = one
  return {
    case_id: one.id,
    ...{ rule, name, version, kind, subject: parseSubjectKey(one.subject), affiliate_id },
    ...{ severity, action, status },
    opened_at: new Date(one.opened_at).toISOString(),
    opened_for: dayText(one.opened_for),
    last_evidence_for: dayText(one.last_day),
    figures: JSON.parse(one.figures) as readonly Figure[],
    sentence,
    evidence_total: one.evidence_count,
    keep_hold: one.keep_hold === 1,
    decided_at: decidedAt(one),
    waiting: one.waiting === 1,
    amount_held: sumByCurrency(holds?.cases.some(({ id }) => id === one.id) ? holds.held : []),
  }
}

/** Returns the decisions of a case, with what became of each. */
function presentDecisions({ found, decisions }: WholeCase) {
  const last = decisions.findIndex(({ at }) => at === decidedAt(found))
  return decisions.map((one, i) => {
    const { decision, reason, at, from_day } = one
    const endsHold = last >= 0 && i > last
    return {
      one,
      shared: {
        ...{
          decision,
          reason,
          keep_hold: one.keep_hold === 1,
          refuse: JSON.parse(one.refuse) as string[],
        },
        from: from_day === null ? null : dayText(from_day),
        ...{ at, ends_hold: endsHold, waiting: isWaiting(found, one, endsHold) },
      },
    }
  })
}

/** Whether a decision takes effect only if another person decides the same. */
const isWaiting = (found: StoredCase, { shown }: StoredDecision, endsHold: boolean): boolean =>
  found.status === 'open' ? shown === found.evidence_count : endsHold && found.keep_hold === 1

const presentNote = ({ id, text, actor, at }: StoredNote) => ({ note_id: id, text, actor, at })

/** Returns a case as the account itself reads it: without notes, and without who decided. */
export const presentOwnCase = (whole: WholeCase, holds: AffiliateHolds | undefined) => ({
  ...presentStoredCase(whole.found, holds),
  decisions: presentDecisions(whole).map(({ shared }) => shared),
})

/** Returns a case as the team reads it. */
export const presentWholeCase = (whole: WholeCase, holds: AffiliateHolds | undefined) => ({
  ...presentStoredCase(whole.found, holds),
  decisions: presentDecisions(whole).map(({ one, shared }) => ({
    ...shared,
    ...{ evidence_total: one.shown, actor: one.actor },
  })),
  notes: whole.notes.map(presentNote),
})
