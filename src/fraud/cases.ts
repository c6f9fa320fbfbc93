import { EXPIRE_DAYS } from '../platform/durations.ts'
import { type DayFinding, evidenceKey, subjectKey } from './findings.ts'
import type { Evidence, Figure } from './kind.ts'
import type { RuleTerms } from './rules.ts'

// The cases of a rule and subject (§17, law 2). Findings are only added: a record belongs to the case that was
// open when a finding first named it, and a case keeps what was added to it. Only a person ends a hold.

/** What a version of a rule makes of its cases. */
interface CaseTerms {
  readonly severity: 'low' | 'medium' | 'high'
  readonly action: 'flag' | 'hold'
}

/** The version that has found something. */
export interface FoundBy {
  /** Its number; null if it is not stored. */
  readonly version: number | null
  readonly terms: Pick<RuleTerms, 'kind' | 'severity' | 'action'>
}

/** A case of a rule and subject, as it is stored. Days are in days since 1970. */
export interface Case extends CaseTerms {
  /** Its position among the cases of its rule and subject, from 0. */
  readonly position: number
  readonly status: 'open' | 'expired' | 'confirmed' | 'dismissed'
  /** The key of its subject. */
  readonly subject: string
  /** The day of the finding that opened it. */
  readonly opened_for: number
  /** The last day whose finding had a new record, and what that finding shows. */
  readonly last_day: number
  /** The first day of the records of that finding. */
  readonly since: number
  readonly figures: readonly Figure[]
  readonly sentence: string
  readonly version: number | null
  readonly kind: string
  /** The number of its records. */
  readonly evidence_count: number
  /** The records that are added to it, in the order in which findings named them. */
  readonly added: readonly Evidence[]
}

/** Whether a finding of a day belongs to a case: to a flag only so many days after its last new record. */
const takes = ({ status, action, last_day }: Case, day: number): boolean =>
  status === 'open' && (action === 'hold' || day - last_day <= EXPIRE_DAYS)

/** Returns a case as it is on a day: a flag without new records for a time has expired. */
export const onDay = <C extends Case>(one: C, today: number): C =>
  takes(one, today) ? one : { ...one, status: 'expired' }

const SEVERITIES = ['low', 'medium', 'high'] as const

/** Returns what a case does after a finding: another version of the rule never makes it do less. */
function strongerOf(one: CaseTerms, other: CaseTerms): CaseTerms {
  const rank = Math.max(SEVERITIES.indexOf(one.severity), SEVERITIES.indexOf(other.severity))
  const severity = SEVERITIES[rank] ?? one.severity
  return { severity, action: other.action === 'hold' ? 'hold' : one.action }
}

/**
 * Adds findings to the cases of their rule and subject: to the open one, or to another that opens. A finding
 * without a record that none has named adds nothing.
 *
 * @param last The case of the last position; null if there is none.
 * @param known The keys of the records of all cases. Those of the findings are added.
 * @param findings In order of day.
 * @returns The cases that change, in order of position.
 */
export function addFindings(
  last: Case | null,
  known: Set<string>,
  findings: readonly DayFinding[],
  { version, terms }: FoundBy,
): Case[] {
  const { kind, severity, action } = terms
  const own: CaseTerms = { severity, action }
  const changed = new Map<number, Case>()
  let current = last
  for (const finding of findings) {
    const evidence = finding.evidence.filter((one) => !known.has(evidenceKey(one)))
    if (evidence.length === 0) continue
    for (const one of evidence) known.add(evidenceKey(one))
    const { day, since, figures, sentence } = finding
    const shown = { last_day: day, since, figures, sentence, version, kind }
    const before = current && takes(current, day) ? current : null
    if (!before && current?.status === 'open') {
      changed.set(current.position, { ...current, status: 'expired' })
    }
    const position: number = before?.position ?? (current ? current.position + 1 : 0)
    current = {
      position,
      status: 'open',
      subject: subjectKey(finding.subject),
      opened_for: day,
      ...shown,
      ...before,
      ...(before && day >= before.last_day && shown),
      ...(before ? strongerOf(before, own) : own),
      evidence_count: (before?.evidence_count ?? 0) + evidence.length,
      added: [...(before?.added ?? []), ...evidence],
    }
    changed.set(position, current)
  }
  return [...changed.values()]
}
