import { compare, decimal } from '../commission/engine/decimal.ts'
import { type DayFinding, evidenceKey, subjectKey } from './findings.ts'
import type { Figure } from './kind.ts'
import type { RuleTerms } from './rules.ts'

// The cases of a rule and subject (§17, law 2). Findings are only added: a record belongs to the case that was
// open when a finding first named it, and a case keeps what was added to it. Only a person ends a hold.

/** What a version of a rule makes of its cases. */
export interface CaseTerms {
  readonly severity: 'low' | 'medium' | 'high'
  readonly action: 'flag' | 'hold'
  /** The part of a payout that a case holds, in percent. */
  readonly reserve_percent: string
}

/** Returns what a version makes of its cases. */
export const caseTermsOf = ({
  severity,
  action,
  reserve_percent = '100',
}: Pick<RuleTerms, 'severity' | 'action' | 'reserve_percent'>): CaseTerms => ({
  ...{ severity, action, reserve_percent },
})

/** A finding, and the version that found it. */
export interface VersionFinding extends DayFinding {
  /** The number of the version; null if it is not stored. */
  readonly version: number | null
  readonly kind: string
  readonly terms: CaseTerms
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
  readonly figures: readonly Figure[]
  readonly sentence: string
  readonly version: number | null
  readonly kind: string
  /** The number of its records. */
  readonly evidence_count: number
  /** The findings that are added to it, each with the records that no earlier one has named. */
  readonly added: readonly VersionFinding[]
}

/** Whether a finding of a day belongs to a case: to a flag only so many days after its last new record. */
const takes = ({ status, action, last_day }: Case, day: number, expireDays: number): boolean =>
  status === 'open' && (action === 'hold' || day - last_day <= expireDays)

const SEVERITIES = ['low', 'medium', 'high'] as const

/** Returns what a case does after a finding: another version of the rule never makes it do less. */
function strongerOf(one: CaseTerms, other: CaseTerms): CaseTerms {
  const rank = Math.max(SEVERITIES.indexOf(one.severity), SEVERITIES.indexOf(other.severity))
  const severity = SEVERITIES[rank] ?? one.severity
  const isMore =
    one.action === other.action
      ? compare(decimal(other.reserve_percent), decimal(one.reserve_percent)) > 0
      : other.action === 'hold'
  const { action, reserve_percent } = isMore ? other : one
  return { severity, action, reserve_percent }
}

const shownOf = ({ day, figures, sentence, version, kind }: VersionFinding) => ({
  ...{ last_day: day, figures, sentence, version, kind },
})

const openCase = (finding: VersionFinding, position: number): Case => ({
  ...{ position, status: 'open', subject: subjectKey(finding.subject), opened_for: finding.day },
  ...{ ...shownOf(finding), ...finding.terms },
  ...{ evidence_count: finding.evidence.length, added: [finding] },
})

const addTo = (one: Case, finding: VersionFinding): Case => ({
  ...one,
  ...strongerOf(one, finding.terms),
  ...(finding.day >= one.last_day && shownOf(finding)),
  evidence_count: one.evidence_count + finding.evidence.length,
  added: [...one.added, finding],
})

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
  findings: readonly VersionFinding[],
  expireDays: number,
): Case[] {
  const changed = new Map<number, Case>()
  let current = last
  for (const finding of findings) {
    const evidence = finding.evidence.filter((one) => !known.has(evidenceKey(one)))
    if (evidence.length === 0) continue
    for (const one of evidence) known.add(evidenceKey(one))
    const added = { ...finding, evidence }
    if (current && takes(current, finding.day, expireDays)) current = addTo(current, added)
    else {
      if (current?.status === 'open')
        changed.set(current.position, { ...current, status: 'expired' })
      current = openCase(added, current ? current.position + 1 : 0)
    }
    changed.set(current.position, current)
  }
  return [...changed.values()]
}

/** Returns the cases that findings of a rule and subject open, as they are on a day without a decision. */
export const casesOf = (
  findings: readonly VersionFinding[],
  today: number,
  expireDays: number,
): Case[] =>
  addFindings(null, new Set(), findings, expireDays).map((one) =>
    takes(one, today, expireDays) ? one : { ...one, status: 'expired' },
  )
