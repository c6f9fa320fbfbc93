import type { Delivery } from '../db/schema.ts'
import type { Issue } from '../validation/issue.ts'
import { type FormattedIssue, formatIssue } from '../validation/messages.ts'
import { limitPerRecord, type Resource, toReferenceIssue } from './resource.ts'

/** The contract: the log keeps the first 100 errors of a delivery, at most 64 KiB of them. */
const MAX_LOGGED_ERRORS = 100
const MAX_LOGGED_BYTES = 65_536

/** The errors that the log keeps, as JSON; null where there are none. */
export function serializeErrors(issues: readonly Issue[]): string | null {
  if (issues.length === 0) return null
  return JSON.stringify(withinLogLimits(issues.slice(0, MAX_LOGGED_ERRORS).map(formatIssue)))
}

/** The errors of a logged delivery, those that were found at the door and in the database. */
export function readErrors(
  { errors, unknown_keys, form, reused }: Logged,
  resource: Pick<Resource, 'keyFromColumns' | 'referenceMember' | 'referenceIssue'>,
): FormattedIssue[] {
  if (reused) return [formatIssue({ pointer: '', code: 'idempotency_key_reused' })]
  const found: FormattedIssue[] = JSON.parse(errors ?? '[]')
  const keys: [number, ...(string | null)[]][] = JSON.parse(unknown_keys ?? '[]')
  for (const [index, ...values] of keys) {
    const key = resource.keyFromColumns(values.slice(0, -1))
    found.push(formatIssue(toReferenceIssue(resource, { form, index, key }, values.at(-1))))
  }
  return withinLogLimits(limitPerRecord(found))
}

/** What of a delivery's line its errors follow from. */
type Logged = Pick<Delivery, 'errors' | 'unknown_keys' | 'form' | 'reused'>

/** The first errors, as many as the log may show. */
function withinLogLimits(errors: readonly FormattedIssue[]): FormattedIssue[] {
  let bytes = 2
  const end = errors.slice(0, MAX_LOGGED_ERRORS).findIndex((error) => {
    bytes += new TextEncoder().encode(JSON.stringify(error)).length + 1
    return bytes > MAX_LOGGED_BYTES
  })
  return errors.slice(0, end < 0 ? MAX_LOGGED_ERRORS : end)
}
