import { type DayFinding, evidenceKey } from './findings.ts'
import type { Evidence } from './kind.ts'

// Which cases of a rule and subject exist follows from its findings and decisions alone (§17, law 2), so that
// cases are computed anew whenever either changes.

/** What a person decided of a case. */
export interface Decision {
  readonly decision: 'confirmed' | 'dismissed'
  /** The records that the person saw, by key. */
  readonly seen: ReadonlySet<string>
}

/** A case of a rule and subject. Days are in days since 1970. */
export interface Case {
  /** Its position among the cases of its rule and subject, from 0: decisions name it. */
  readonly position: number
  readonly status: 'open' | 'expired' | Decision['decision']
  /** The first day with a finding. */
  readonly openedFor: number
  /** The last day whose finding had a record that no earlier one had. */
  readonly lastEvidenceDay: number
  /** The finding of that day, which the case shows. */
  readonly finding: DayFinding
  /** The records, in the order in which findings named them. */
  readonly evidence: readonly Evidence[]
}

/**
 * Returns the cases of a rule and subject in order of position. Each record is in one case. Only the last
 * case can be open. A decided case whose records are gone is left out.
 *
 * @param findings In order of day.
 * @param decisions Those of the cases that were decided, by the position of the case.
 * @param today The last complete day.
 * @param expireDays After so many days without a decision and without new records a case expires.
 */
export function casesOf(
  findings: readonly DayFinding[],
  decisions: ReadonlyMap<number, Decision>,
  today: number,
  expireDays: number,
): Case[] {
  const cases: Case[] = []
  /** The records of earlier cases: they open no other. */
  const used = new Set<string>()
  for (let position = 0; ; position++) {
    const decided = decisions.get(position)
    const isOwn = (one: Evidence) =>
      !used.has(evidenceKey(one)) && (!decided || decided.seen.has(evidenceKey(one)))
    const found = collect(findings, isOwn, decided ? Number.POSITIVE_INFINITY : expireDays)
    // The records of a decided case may be gone.
    if (found === null && decided) continue
    if (found === null) return cases
    const isOver = today - found.lastEvidenceDay > expireDays
    const { isInterrupted, ...rest } = found
    cases.push({
      position,
      ...rest,
      status: decided?.decision ?? (isInterrupted || isOver ? 'expired' : 'open'),
    })
    for (const one of found.evidence) used.add(evidenceKey(one))
  }
}

/** Collects records until there are none for so many days; null if there are none at all. */
function collect(
  findings: readonly DayFinding[],
  isOwn: (one: Evidence) => boolean,
  expireDays: number,
) {
  const evidence = new Map<string, Evidence>()
  let openedFor: number | null = null
  let latest: DayFinding | null = null
  let isInterrupted = false
  for (const finding of findings) {
    const added = finding.evidence.filter((one) => isOwn(one) && !evidence.has(evidenceKey(one)))
    if (added.length === 0) continue
    isInterrupted = latest !== null && finding.day - latest.day > expireDays
    if (isInterrupted) break
    openedFor ??= finding.day
    latest = finding
    for (const one of added) evidence.set(evidenceKey(one), one)
  }
  if (openedFor === null || latest === null) return null
  return {
    openedFor,
    lastEvidenceDay: latest.day,
    finding: latest,
    evidence: [...evidence.values()],
    isInterrupted,
  }
}
