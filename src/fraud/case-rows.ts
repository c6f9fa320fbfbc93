import { digest } from '../auth/secret.ts'
import { encode } from '../db/column-types.ts'
import type {
  EvaluatedCase,
  FindingRow,
  KnownSubject,
  SubjectOfRule,
} from '../db/fraud/findings.ts'
import { customers } from '../db/schema.ts'
import { required } from '../db/statement.ts'
import type { Case } from './cases.ts'
import { evidenceKey, parseSubjectKey } from './findings.ts'
import type { Evidence, Subject } from './kind.ts'

// Cases and their records as they are stored.

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

/** Returns the last case of a rule and subject, the number of its parts, and the keys of the records of all cases. */
export function parseSubject(stored: KnownSubject | undefined) {
  const { last = null, evidence = [] } = stored ?? {}
  const known = new Set(evidence.flatMap((text) => parseEvidence(text).map(evidenceKey)))
  return { last: last && parseCase(last), parts: last?.parts ?? 0, known }
}

const parseCase = (row: EvaluatedCase): Case => ({
  position: row.position,
  ...{ severity: row.severity, action: row.action, reserve_percent: row.reserve_percent },
  ...{ status: row.status, openedFor: row.opened_for, lastEvidenceDay: row.last_day },
  finding: {
    subject: parseSubjectKey(row.subject),
    figures: JSON.parse(row.figures),
    ...{ sentence: row.sentence, version: row.version, kind: row.kind },
  },
  ...{ evidenceCount: row.evidence_count, added: [] },
})

/** The records of a part of a finding: a row has at most 2 MB. */
const PART = 1000

/**
 * Returns the rows of a case, and of the findings that are added to it.
 *
 * @param parts The number of the parts that it has already.
 */
export async function rowsOfCase(
  account: string,
  key: SubjectOfRule,
  one: Case,
  parts: number,
): Promise<{ row: EvaluatedCase; findings: FindingRow[] }> {
  const id = await caseId(account, key, one.position)
  const { subject, figures, sentence, version, kind } = one.finding
  const [customer_id = null, other_customer_id = null] = customersOf(subject)
  const { position, severity, action, reserve_percent, status } = one
  const row = {
    ...{ id, ...key, position, customer_id, other_customer_id, kind, severity, action },
    ...{ reserve_percent, status, sentence, figures: JSON.stringify(figures) },
    ...{ version: required(version, 'number of the version'), opened_for: one.openedFor },
    ...{ last_day: one.lastEvidenceDay, evidence_count: one.evidenceCount },
  }
  const chunks = one.added.flatMap(({ day, evidence }) =>
    Array.from({ length: Math.ceil(evidence.length / PART) }, (_, i) => ({
      day,
      evidence: JSON.stringify(evidence.slice(i * PART, (i + 1) * PART).map(toRow)),
    })),
  )
  return { row, findings: chunks.map((part, i) => ({ case_id: id, part: parts + i, ...part })) }
}

/** Returns the customers whom a case is about, as stored. */
function customersOf(subject: Subject): string[] {
  if ('affiliate_id' in subject) return []
  const ids = 'customer_id' in subject ? [subject.customer_id] : subject.customer_ids
  return ids.map((id) => String(encode(customers.customer_id, id)))
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'
const CHARACTERS = 26

/** Returns the id of a case: the same however often it is opened. */
async function caseId(
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
