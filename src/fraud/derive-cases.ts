import { digest } from '../auth/secret.ts'
import { encode } from '../db/column-types.ts'
import type { DerivedCase, KnownCase, StoredFinding, SubjectOfRule } from '../db/fraud/findings.ts'
import { customers } from '../db/schema.ts'
import { required } from '../db/statement.ts'
import { type Case, casesOf, type Decision } from './cases.ts'
import {
  type DayFinding,
  evidenceKey,
  newRecords,
  parseSubjectKey,
  subjectKey,
} from './findings.ts'
import type { Evidence } from './kind.ts'
import type { RuleFinding } from './rule-days.ts'
import type { RuleVersion } from './stored-rules.ts'

// Cases of one rule and subject, from what is stored of both and what an evaluation has found.

/** A finding with only those records that no earlier finding of the same rule and subject has named. */
export interface NewFinding extends DayFinding {
  /** The number of the version that found it. */
  readonly version: number
}

/**
 * Returns the findings that name records which no earlier one has named, with these records alone. They have
 * the same cases as all findings.
 *
 * @param findings Those of one rule and subject, in order of day.
 */
export const withoutRepeats = <F extends DayFinding>(findings: readonly F[]): F[] =>
  findings.flatMap(newRecords())

/** A record of a finding, as it is stored. */
type EvidenceRow = readonly [
  resource: Evidence['resource'],
  id: string,
  day: number,
  customer_id: string | null,
  delivery_id: string | null,
]

const toRow = ({ resource, id, day, customer_id, delivery_id }: Evidence): EvidenceRow => [
  ...([resource, id, day] as const),
  ...([customer_id, delivery_id ?? null] as const),
]

/** Returns the records of a part of a finding. */
export const parseEvidence = (text: string): Evidence[] =>
  JSON.parse(text).map(
    ([resource, id, day, customer_id, delivery_id]: EvidenceRow): Evidence => ({
      ...{ resource, id, day, customer_id },
      delivery_id: delivery_id ?? undefined,
    }),
  )

/** The records of a part of a finding: a row has at most 2 MB. */
const PART = 1000

/** Returns a finding as rows. */
export function toStored(key: SubjectOfRule, finding: NewFinding): StoredFinding[] {
  const { day, version, figures, sentence, evidence } = finding
  const parts = Array.from({ length: Math.ceil(evidence.length / PART) }, (_, part) => part)
  return parts.map((part) => ({
    ...{ ...key, day, part, version },
    figures: part === 0 ? JSON.stringify(figures) : null,
    sentence: part === 0 ? sentence : null,
    evidence: JSON.stringify(evidence.slice(part * PART, (part + 1) * PART).map(toRow)),
  }))
}

/** Returns the findings of one rule and subject from their rows, which are in order of day and part. */
export function fromStored(rows: readonly StoredFinding[]): NewFinding[] {
  return [...Map.groupBy(rows, ({ day }) => day)].flatMap(([day, parts]) => {
    const [head] = parts
    if (!head) return []
    return [
      {
        ...{ day, version: head.version, subject: parseSubjectKey(head.subject) },
        figures: JSON.parse(head.figures ?? '[]'),
        sentence: head.sentence ?? '',
        evidence: parts.flatMap((part) => parseEvidence(part.evidence)),
      },
    ]
  })
}

/** Returns the decisions of decided cases by position. */
export const decisionsOf = (
  cases: readonly Pick<KnownCase, 'position' | 'status' | 'seen'>[],
): Map<number, Decision> =>
  new Map(
    cases.flatMap(({ position, status, seen }) =>
      status === 'confirmed' || status === 'dismissed'
        ? [
            [
              position,
              { decision: status, seen: new Set(seen.flatMap((part) => JSON.parse(part))) },
            ] as const,
          ]
        : [],
    ),
  )

/** What is stored of a rule and subject. */
export interface StoredSubject {
  readonly key: SubjectOfRule
  /** Its findings of other days than those that are evaluated, in order of day and part. */
  readonly findings: readonly StoredFinding[]
  readonly cases: readonly KnownCase[]
}

/** What a rule and subject have after an evaluation. */
interface DerivedSubject {
  /** The findings of the evaluated days. */
  readonly findings: readonly StoredFinding[]
  readonly cases: readonly DerivedCase[]
  /** The ids of cases whose records are gone. */
  readonly gone: readonly string[]
}

/** What all subjects share. */
export interface DerivedFrom {
  readonly account: string
  readonly versions: readonly RuleVersion[]
  /** The first day that is evaluated. */
  readonly first: number
  /** The last complete day. */
  readonly today: number
  readonly expireDays: number
}

/**
 * Derives the cases of a rule and subject.
 *
 * @param found What the rule finds on the evaluated days, in order of day.
 */
export async function deriveSubject(
  { key, findings, cases: known }: StoredSubject,
  found: readonly RuleFinding[],
  from: DerivedFrom,
): Promise<DerivedSubject> {
  const others = fromStored(findings)
  const earlier = others.filter(({ day }) => day < from.first)
  const present = found.map((one) => ({ ...one, version: one.version.version }))
  const reduced = withoutRepeats<NewFinding>([...earlier, ...present]).filter(
    ({ day }) => day >= from.first,
  )
  const later = others.filter(({ day }) => day >= from.first)
  const all: NewFinding[] = [...earlier, ...reduced, ...later]
  const derived = casesOf(all, decisionsOf(known), from.today, from.expireDays)
  const byDay = new Map(all.map((one) => [one.day, one.version]))
  const cases = await Promise.all(
    derived.map((one) => {
      const number = byDay.get(one.lastEvidenceDay)
      const version = from.versions.find(
        ({ rule, version: other }) => rule === key.rule && other === number,
      )
      return toCase(from.account, key, one, required(version, 'version of the rule'))
    }),
  )
  const ids = new Set(cases.map(({ id }) => id))
  return {
    findings: reduced.flatMap((one) => toStored(key, one)),
    cases,
    gone: known.map(({ id }) => id).filter((id) => !ids.has(id)),
  }
}

async function toCase(
  account: string,
  key: SubjectOfRule,
  { position, status, openedFor, lastEvidenceDay, finding, evidence }: Case,
  { version, terms }: RuleVersion,
): Promise<DerivedCase> {
  const { kind, severity, action, reserve_percent = '100' } = terms
  const [customer_id = null, other_customer_id = null] = customersOf(finding)
  return {
    ...key,
    ...{ id: await caseId(account, key, position), position, customer_id, other_customer_id },
    ...{ version, kind, severity, action, reserve_percent, status },
    ...{ opened_for: openedFor, last_day: lastEvidenceDay },
    ...{ figures: JSON.stringify(finding.figures), sentence: finding.sentence },
    evidence_count: evidence.length,
    evidence_digest: await digest(evidence.map(evidenceKey).join('\n')),
  }
}

/** Returns the customers that a finding is about, as stored. */
function customersOf({ subject }: DayFinding): string[] {
  if ('affiliate_id' in subject) return []
  const ids = 'customer_id' in subject ? [subject.customer_id] : subject.customer_ids
  return ids.map((id) => String(encode(customers.customer_id, id)))
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'
const CHARACTERS = 26

/** Returns the id of a case: the same whenever and however often it is derived. */
export async function caseId(
  account: string,
  { affiliate_id, rule, subject }: SubjectOfRule,
  position: number,
): Promise<string> {
  const hex = await digest(JSON.stringify([account, affiliate_id, rule, subject, position]))
  const bits = [...hex].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0'))
  const groups = bits.join('').match(/.{5}/g) ?? []
  const text = groups.slice(0, CHARACTERS).map((group) => BASE32[Number.parseInt(group, 2)])
  return `case_${text.join('')}`
}

/** Returns the key of the subject of a finding. */
export const subjectOf = (
  affiliate_id: string,
  { subject, version }: RuleFinding,
): SubjectOfRule => ({ affiliate_id, rule: version.rule, subject: subjectKey(subject) })
