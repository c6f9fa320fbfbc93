import { dayText } from '../commission/engine/calendar.ts'
import { LISTED_EVIDENCE } from './limits.ts'
import { type SimulatedCase, sumHeld } from './simulate.ts'
import type { PresentedCase } from './simulated-page.ts'

/** Returns a case with the first of its records. */
export function presentCase(one: SimulatedCase): PresentedCase {
  const { subject, figures, sentence } = one.finding
  return {
    subject,
    affiliate_id: one.affiliate_id,
    version: one.found.version,
    action: one.found.action,
    status: one.status,
    opened_for: dayText(one.openedFor),
    last_evidence_for: dayText(one.lastEvidenceDay),
    figures,
    sentence,
    evidence: one.evidence.slice(0, LISTED_EVIDENCE).map(({ day, delivery_id, ...record }) => ({
      ...record,
      day: dayText(day),
      delivery_id: delivery_id ?? null,
    })),
    evidence_total: one.evidence.length,
    would_hold: sumHeld(one.held),
  }
}
