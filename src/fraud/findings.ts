import { compareText } from '../commission/engine/facts.ts'
import type { Evidence, Finding, Kind, Subject, View } from './kind.ts'

/** A rule with the parameters of its version. */
export interface RuleParameters<P = unknown> {
  readonly kind: Kind<P>
  readonly parameters: P
}

/** What a rule found of a subject on a day, in days since 1970. A subject has at most one finding a day. */
export interface DayFinding extends Finding {
  readonly day: number
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
export const evidenceKey = ({ resource, id }: Evidence): string => `${resource}:${id}`

const compareEvidence = (a: Evidence, b: Evidence): number =>
  a.day - b.day || compareText(evidenceKey(a), evidenceKey(b))

/** Joins the findings of one subject: all figures, the first sentence, each record once. */
function join(findings: readonly [Finding, ...Finding[]], day: number): DayFinding {
  const [first] = findings
  const records = new Map(
    findings.flatMap(({ evidence }) => evidence.map((one) => [evidenceKey(one), one])),
  )
  return {
    ...first,
    day,
    figures: findings.flatMap(({ figures }) => figures),
    evidence: [...records.values()].sort(compareEvidence),
  }
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

/** After how many records, each counted once a day, a search yields to other requests of the isolate. */
const RECORDS_BETWEEN_YIELDS = 50_000

/** Returns `findingsOf` in turns: an isolate has one thread, which the days of a year occupy for seconds. */
export function newFinder() {
  let sinceYield = 0
  return async (
    rule: RuleParameters,
    view: View,
    first: number,
    last: number,
  ): Promise<DayFinding[]> => {
    const records = view.customers.reduce((sum, { facts }) => sum + facts.length, 1)
    const days = Math.max(1, Math.floor(RECORDS_BETWEEN_YIELDS / records))
    const found: DayFinding[] = []
    for (let start = first; start <= last; start += days) {
      const end = Math.min(last, start + days - 1)
      for (const one of findingsOf(rule, view, start, end)) found.push(one)
      sinceYield += records * (end - start + 1)
      if (sinceYield < RECORDS_BETWEEN_YIELDS) continue
      sinceYield = 0
      await scheduler.wait(0)
    }
    return found
  }
}
