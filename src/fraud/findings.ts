import { compareText } from '../platform/compare-text.ts'
import type { Evidence, Finding, Kind, Subject, View } from './kind.ts'

/** A rule with the parameters of its version. */
export interface RuleParameters<P = unknown> {
  readonly kind: Kind<P>
  readonly parameters: P
}

/** What a rule found of a subject on a day, in days since 1970. A subject has at most one finding a day. */
export interface DayFinding extends Finding {
  readonly day: number
  /** The first day of its records. */
  readonly since: number
}

/** Returns a finding of a day, with its records in order. */
export function findingOn(finding: Finding, day: number): DayFinding {
  const evidence = finding.evidence.toSorted(compareEvidence)
  return { ...finding, day, since: evidence[0]?.day ?? day, evidence }
}

/** Returns the text that tells a subject from others. */
export const subjectKey = (subject: Subject): string =>
  'affiliate_id' in subject
    ? `affiliate:${subject.affiliate_id}`
    : 'customer_id' in subject
      ? `customer:${subject.customer_id}`
      : `customers:${JSON.stringify(subject.customer_ids)}`

/** Returns the subject of such a text. */
export function parseSubjectKey(key: string): Subject {
  const colon = key.indexOf(':')
  const id = key.slice(colon + 1)
  if (key.startsWith('affiliate:')) return { affiliate_id: id }
  return key.startsWith('customer:') ? { customer_id: id } : { customer_ids: JSON.parse(id) }
}

/** Returns the text that tells a record from others. */
export const evidenceKey = ({ resource, id }: Pick<Evidence, 'resource' | 'id'>): string =>
  `${resource}:${id}`

/** What was found of a subject, as a key. */
export interface SubjectFindings {
  readonly affiliate_id: string
  readonly subject: string
  /** In order of day. */
  readonly found: readonly DayFinding[]
}

/** Returns what was found of affiliates by subject. */
export const bySubject = (
  findings: ReadonlyMap<string, readonly DayFinding[]>,
): SubjectFindings[] =>
  [...findings].flatMap(([affiliate_id, own]) =>
    [...Map.groupBy(own, ({ subject }) => subjectKey(subject))].map(([subject, found]) => ({
      affiliate_id,
      subject,
      found,
    })),
  )

/** Compares records by day and key. */
export const compareEvidence = (a: Evidence, b: Evidence): number =>
  a.day - b.day || compareText(evidenceKey(a), evidenceKey(b))

/** Joins the findings of one subject: all figures, the first sentence, each record once. */
function join(findings: readonly [Finding, ...Finding[]], day: number): DayFinding {
  const [first] = findings
  const records = new Map(
    findings.flatMap(({ evidence }) => evidence.map((one) => [evidenceKey(one), one])),
  )
  const figures = findings.flatMap((one) => one.figures)
  return findingOn({ ...first, figures, evidence: [...records.values()] }, day)
}

/**
 * Returns what a rule finds on the days from `first` to `last`, one by one. The order of the customers and of their records in
 * the view does not matter.
 *
 * @returns The findings in order of day and subject.
 */
export function findingsOf(
  { kind, parameters }: RuleParameters,
  view: View,
  first: number,
  last: number,
): DayFinding[] {
  const found: DayFinding[] = []
  for (let day = first; day <= last; day++) {
    const bySubject = Map.groupBy(kind.find(view, day, parameters), ({ subject }) =>
      subjectKey(subject),
    )
    const subjects = [...bySubject].sort(([a], [b]) => compareText(a, b))
    for (const [, findings] of subjects) {
      const [one, ...others] = findings
      if (one) found.push(join([one, ...others], day))
    }
  }
  return found
}

/**
 * Returns a function that returns a finding with those of its records that no earlier finding of the subject
 * has named; nothing if it names no others. It must be called in order of day.
 */
function newRecords(): <F extends DayFinding>(finding: F) => F[] {
  const named = new Map<string, Set<string>>()
  return (finding) => {
    const key = subjectKey(finding.subject)
    const known = named.get(key) ?? new Set<string>()
    named.set(key, known)
    const evidence = finding.evidence.filter((one) => !known.has(evidenceKey(one)))
    for (const one of evidence) known.add(evidenceKey(one))
    return evidence.length > 0 ? [{ ...finding, evidence }] : []
  }
}

/** After how many records, each counted once a day, a search yields to other requests of the isolate. */
const RECORDS_BETWEEN_YIELDS = 10_000

/**
 * Returns `findingsOf` in turns, without the records that a finding before has named: the days of a year occupy
 * the one thread of an isolate for seconds, and may name each record on each day.
 */
export async function findInTurns(
  rule: RuleParameters,
  view: View,
  first: number,
  last: number,
): Promise<DayFinding[]> {
  const records = view.customers.reduce((sum, { facts }) => sum + facts.length, 1)
  const reduce = newRecords()
  const found: DayFinding[] = []
  let sinceYield = 0
  for (let day = first; day <= last; day++) {
    found.push(...findingsOf(rule, view, day, day).flatMap(reduce))
    sinceYield += records
    if (sinceYield < RECORDS_BETWEEN_YIELDS) continue
    sinceYield = 0
    await scheduler.wait(0)
  }
  return found
}
