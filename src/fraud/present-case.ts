import * as v from 'valibot'
import { EXPIRE_DAYS } from '../platform/durations.ts'
import { dayText } from '../platform/money/calendar.ts'
import { moneyOf, sumByCurrency } from '../platform/money/sums.ts'
import { count, day, money, time } from '../platform/validation/answer-fields.ts'
import { component, described, named, withMembers } from '../platform/validation/described.ts'
import { member, nullable } from '../platform/validation/fields.ts'
import type { StoredCase, WholeCase } from './db/cases.ts'
import { parseSubjectKey } from './findings.ts'
import type { AffiliateHolds } from './holds.ts'
import { type Figure, figures, subject } from './kind.ts'
import { DECISION_LIMITS } from './limits.ts'

// Cases on the wire.

/** What can become of a case. */
export const STATUSES = ['open', 'confirmed', 'dismissed', 'expired'] as const

/** How serious a case can be. */
export const SEVERITIES = ['low', 'medium', 'high'] as const

/** A case as lists show it. */
export const fraudCase = component('FraudCase', () => ({
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
  evidence_since: member(
    day,
    'The first day of the records that the figures rest on. Earlier ones are of earlier findings.',
  ),
  figures,
  sentence: member(v.string(), 'The finding of that day in one sentence.'),
  evidence_total: member(
    count,
    'The number of its records. It only grows. Send it with a decision: `shown`.',
  ),
  keep_hold: member(v.boolean(), 'Whether it was confirmed and goes on holding payouts.'),
  decided_at: nullable(time, 'When it was decided, or null.'),
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
}))

/** A case with its decisions. */
export const wholeFraudCase = described(() =>
  named(
    'WholeFraudCase',
    withMembers(fraudCase, {
      decisions: member(
        v.array(
          v.object({
            decision: member(v.picklist(['confirmed', 'dismissed']), 'The decision.'),
            reason: member(v.string(), 'Why.'),
            keep_hold: member(v.boolean(), 'Whether the case goes on holding payouts.'),
            refuse: member(v.array(v.string()), 'The customers who are refused with it.'),
            from: nullable(day, 'The day from which they are refused, or null.'),
            at: member(time, 'When it was made.'),
            ends_hold: member(
              v.boolean(),
              'Whether it ends the hold that an earlier decision kept: the case stays confirmed.',
            ),
            waiting: member(
              v.boolean(),
              'Whether another person must decide the same before it takes effect.',
            ),
            evidence_total: member(count, 'The number of records that the case had.'),
            actor: member(v.string(), 'Who decided.'),
          }),
        ),
        'The decisions, the first one first. Where two persons must decide, the first one alone leaves the case open.',
      ),
      customers: member(
        v.array(v.string()),
        `The customers who have records in it, in order of id: the first ${DECISION_LIMITS.refused}. A decision can refuse them.`,
      ),
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
    rule,
    name,
    version,
    kind,
    subject: parseSubjectKey(one.subject),
    affiliate_id,
    severity,
    action,
    status,
    opened_at: new Date(one.opened_at).toISOString(),
    opened_for: dayText(one.opened_for),
    last_evidence_for: dayText(one.last_day),
    evidence_since: dayText(one.since),
    figures: JSON.parse(one.figures) as readonly Figure[],
    sentence,
    evidence_total: one.evidence_count,
    keep_hold: one.keep_hold === 1,
    decided_at: decidedAt(one),
    waiting: one.waiting === 1,
    amount_held: moneyOf(
      sumByCurrency(holds?.cases.some(({ id }) => id === one.id) ? holds.held : []),
    ),
  }
}

/** Returns a case with its decisions, and what became of each. */
export function presentWholeCase(
  { found, decisions, customers }: WholeCase,
  holds: AffiliateHolds | undefined,
) {
  const last = decisions.findIndex(({ at }) => at === decidedAt(found))
  return {
    ...presentStoredCase(found, holds),
    decisions: decisions.map(({ shown, from_day, ...one }, i) => {
      const ends_hold = last >= 0 && i > last
      return {
        ...one,
        keep_hold: one.keep_hold === 1,
        refuse: JSON.parse(one.refuse) as string[],
        from: from_day === null ? null : dayText(from_day),
        ends_hold,
        evidence_total: shown,
        waiting:
          found.status === 'open'
            ? shown === found.evidence_count
            : ends_hold && found.keep_hold === 1,
      }
    }),
    customers,
  }
}
