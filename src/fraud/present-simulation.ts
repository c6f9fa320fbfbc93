import { dayText } from '../commission/engine/calendar.ts'
import type { Outcome } from '../db/fraud/outcomes.ts'
import { LISTED_EVIDENCE } from './limits.ts'
import { type SimulatedCase, sumHeld } from './simulate.ts'
import type { PresentedCase } from './simulated-page.ts'

/**
 * Returns a case with the first of its records, and what persons decided of it.
 *
 * @param also_in_force Whether the version in force would have opened it, too; null if none is compared.
 */
export function presentCase(
  one: SimulatedCase,
  outcome: Outcome | null,
  also_in_force: boolean | null,
): PresentedCase {
  const { subject, figures, sentence } = one.finding
  const records = one.added.flatMap(({ evidence }) => evidence)
  return {
    subject,
    affiliate_id: one.affiliate_id,
    version: one.finding.version,
    action: one.action,
    status: one.status,
    opened_for: dayText(one.openedFor),
    last_evidence_for: dayText(one.lastEvidenceDay),
    figures,
    sentence,
    evidence: records.slice(0, LISTED_EVIDENCE).map(({ day, delivery_id, ...record }) => ({
      ...record,
      day: dayText(day),
      delivery_id: delivery_id ?? null,
    })),
    evidence_total: records.length,
    would_hold: sumHeld(one.held),
    outcome,
    also_in_force,
  }
}

/** Counts what persons decided of cases. */
export function countOutcomes(cases: readonly PresentedCase[]): Record<Outcome, number> {
  const count = (wanted: Outcome) => cases.filter(({ outcome }) => outcome === wanted).length
  return {
    confirmed: count('confirmed'),
    dismissed: count('dismissed'),
    reversed: count('reversed'),
  }
}
