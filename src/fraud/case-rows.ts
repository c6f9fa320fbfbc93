import { digest } from '../platform/auth/secret.ts'
import { required } from '../platform/db/statement.ts'
import type { Case } from './cases.ts'
import type { EvaluatedCase, EvidenceRow, SubjectOfRule } from './db/findings.ts'
import { parseSubjectKey } from './findings.ts'
import type { Subject } from './kind.ts'

/** Returns a case of a rule and subject as it is stored, and the rows of the records that are added to it. */
export async function rowsOfCase(
  account: string,
  key: SubjectOfRule,
  { added, figures, ...one }: Case,
): Promise<{ row: EvaluatedCase; evidence: EvidenceRow[] }> {
  const id = await caseId(account, key, one.position)
  const [customer_id = null, other_customer_id = null] = customersOf(parseSubjectKey(one.subject))
  const version = required(one.version, 'number of the version')
  const row = {
    ...one,
    ...key,
    id,
    customer_id,
    other_customer_id,
    version,
    figures: JSON.stringify(figures),
  }
  const first = one.evidence_count - added.length
  const evidence = added.map((record, i) => ({ case_id: id, position: first + i, ...record }))
  return { row, evidence }
}

/** Returns the customers whom a case is about. */
function customersOf(subject: Subject): string[] {
  if ('affiliate_id' in subject) return []
  return 'customer_id' in subject ? [subject.customer_id] : [...subject.customer_ids]
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
