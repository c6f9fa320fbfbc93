import * as v from 'valibot'
import type { Fixed } from '../platform/http/operation-words.ts'
import { dayText } from '../platform/money/calendar.ts'
import { count, day, version } from '../platform/validation/answer-fields.ts'
import { component, described } from '../platform/validation/described.ts'
import { member, nullable } from '../platform/validation/fields.ts'
import { fraudEvidence } from './case-evidence.ts'
import { parseSubjectKey } from './findings.ts'
import { figures, subject } from './kind.ts'
import { LISTED_EVIDENCE } from './limits.ts'
import { fraudCase } from './present-case.ts'
import type { SimulatedCase } from './simulate.ts'

// A back-test on the wire.

const foundCase = described(() => {
  const { affiliate_id, status, opened_for, last_evidence_for, sentence } = fraudCase.entries
  const { values: _, changed: __, ...record } = fraudEvidence.entries
  return v.object({
    subject,
    affiliate_id,
    status,
    opened_for,
    last_evidence_for,
    figures,
    sentence,
    version: nullable(
      version,
      'The version that found it last. Null if it is that of the request.',
    ),
    action: member(
      v.picklist(['flag', 'hold']),
      'What the case does: the most that a version which found it asks for.',
    ),
    evidence: member(
      v.array(v.object(record)),
      `The first ${LISTED_EVIDENCE} of the records behind it.`,
    ),
    evidence_total: member(count, 'The number of all records behind it.'),
  })
})

/** A back-test. */
export const simulatedPage = component('FraudSimulation', () => ({
  rule: member(v.string(), 'The rule.'),
  from: member(day, 'The first day.'),
  to: member(day, 'The last day.'),
  kind: member(v.string(), 'The kind of the rule.'),
  data: member(
    v.array(foundCase),
    'The cases that the rule would have opened, by day, affiliate and subject.',
  ),
}))

/** A back-test. */
export type SimulatedPage = Fixed<v.InferOutput<typeof simulatedPage>>

/** A case that a rule would have opened. */
export type PresentedCase = SimulatedPage['data'][number]

/** Returns a case with the first of its records. */
export function presentCase(one: SimulatedCase): PresentedCase {
  const { affiliate_id, version, action, status, figures, sentence, added } = one
  const records = added.slice(0, LISTED_EVIDENCE)
  return {
    subject: parseSubjectKey(one.subject),
    affiliate_id,
    version,
    action,
    status,
    opened_for: dayText(one.opened_for),
    last_evidence_for: dayText(one.last_day),
    figures,
    sentence,
    evidence: records.map((record) => ({ ...record, day: dayText(record.day) })),
    evidence_total: one.evidence_count,
  }
}
