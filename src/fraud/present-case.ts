import { type AffiliateHolds, sumByCurrency } from '../commission/books/holds.ts'
import { dayText } from '../commission/engine/calendar.ts'
import type { StoredCase, StoredDecision, StoredNote, WholeCase } from '../db/fraud/cases.ts'
import { parseSubjectKey } from './findings.ts'

// Cases on the wire.

/** Returns a case as lists show it. */
export function presentStoredCase(one: StoredCase, holds: AffiliateHolds | undefined) {
  const { rule, name, version, kind, affiliate_id, severity, action, status, sentence } = one
  return {
    case_id: one.id,
    ...{ rule, name, version, kind, subject: parseSubjectKey(one.subject), affiliate_id },
    ...{ severity, action, reserve_percent: one.reserve_percent, status },
    opened_at: new Date(one.opened_at).toISOString(),
    opened_for: dayText(one.opened_for),
    last_evidence_for: dayText(one.last_day),
    figures: JSON.parse(one.figures),
    sentence,
    evidence_total: one.evidence_count,
    evidence_digest: one.evidence_digest,
    keep_hold: one.keep_hold === 1,
    decided_at: one.decided_at === null ? null : new Date(one.decided_at).toISOString(),
    amount_held: sumByCurrency(holds?.byCase.get(one.id) ?? []),
  }
}

const presentDecision = ({ from_day, refuse, keep_hold, ...rest }: StoredDecision) => ({
  ...{ decision: rest.decision, reason: rest.reason, keep_hold: keep_hold === 1 },
  refuse: JSON.parse(refuse),
  from: from_day === null ? null : dayText(from_day),
  at: rest.at,
})

const presentNote = ({ id, text, actor, at }: StoredNote) => ({ note_id: id, text, actor, at })

/** Returns a case as the account itself reads it: without notes, and without who decided. */
export const presentOwnCase = (
  { found, decisions }: WholeCase,
  holds: AffiliateHolds | undefined,
) => ({ ...presentStoredCase(found, holds), decisions: decisions.map(presentDecision) })

/** Returns a case as the team reads it. */
export const presentWholeCase = (whole: WholeCase, holds: AffiliateHolds | undefined) => ({
  ...presentStoredCase(whole.found, holds),
  decisions: whole.decisions.map((one) => ({
    ...presentDecision(one),
    ...{ evidence_digest: one.shown, actor: one.actor },
  })),
  notes: whole.notes.map(presentNote),
})
