import { type AffiliateHolds, sumByCurrency } from '../commission/books/holds.ts'
import { dayText } from '../commission/engine/calendar.ts'
import type { StoredCase, StoredDecision, StoredNote, WholeCase } from '../db/fraud/cases.ts'
import { parseSubjectKey } from './findings.ts'
import type { Figure } from './kind.ts'

// Cases on the wire.

const decidedAt = ({ decided_at }: StoredCase): string | null =>
  decided_at === null ? null : new Date(decided_at).toISOString()

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
    figures: JSON.parse(one.figures) as readonly Figure[],
    sentence,
    evidence_total: one.evidence_count,
    evidence_digest: one.evidence_digest,
    keep_hold: one.keep_hold === 1,
    decided_at: decidedAt(one),
    waiting: one.waiting === 1,
    hold_goes_on: one.goes_on === 1,
    amount_held: sumByCurrency(holds?.byCase.get(one.id) ?? []),
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
  found.status === 'open' ? shown === found.evidence_digest : endsHold && found.keep_hold === 1

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
    ...{ evidence_digest: one.shown, actor: one.actor },
  })),
  notes: whole.notes.map(presentNote),
})
