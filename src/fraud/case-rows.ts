import { digest } from '../platform/auth/secret.ts'
import { encode } from '../platform/db/column-types.ts'
import { customers } from '../platform/db/schema.ts'
import { required } from '../platform/db/statement.ts'
import type { Case } from './cases.ts'
import type { EvaluatedCase, FindingRow, KnownSubject, SubjectOfRule } from './db/findings.ts'
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

const parseCase = ({ figures, ...row }: EvaluatedCase): Case => ({
  ...row,
  figures: JSON.parse(figures),
  added: [],
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
  const { added, figures, ...rest } = one
  const [customer_id = null, other_customer_id = null] = customersOf(parseSubjectKey(one.subject))
  const version = required(one.version, 'number of the version')
  const row = {
    ...{ ...rest, ...key, id, customer_id, other_customer_id, version },
    figures: JSON.stringify(figures),
  }
  const chunks = added.flatMap(({ day, evidence }) =>
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

/** The characters of the id of a case: 104 bits. */
const CHARACTERS = 26

/** Returns the id of a case: the same however often it is opened. */
async function caseId(
  account: string,
  { affiliate_id, rule, subject }: SubjectOfRule,
  position: number,
): Promise<string> {
  const hex = await digest(JSON.stringify([account, affiliate_id, rule, subject, position]))
  return `case_${hex.slice(0, CHARACTERS)}`
}
