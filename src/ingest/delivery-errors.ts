import type { Delivery } from '../db/schema.ts'
import type { Issue } from '../validation/issue.ts'
import { type Said, say } from '../validation/messages.ts'
import { byRecord, type Resource, refusalOf } from './resource.ts'

/** The contract: the log keeps the first 100 errors of a delivery, at most 64 KiB of them. */
const LOGGED = 100
const LOGGED_BYTES = 65_536

/** The errors that the log keeps, as JSON; null where there are none. */
export function logged(issues: readonly Issue[]): string | null {
  if (issues.length === 0) return null
  return JSON.stringify(firstOf(issues.slice(0, LOGGED).map(say)))
}

/** The errors of a logged delivery, those that were found at the door and in the database. */
export function errorsOf(
  { errors, unknown_keys, form, reused }: Logged,
  resource: Pick<Resource, 'keyFromColumns' | 'referenceMember' | 'referenceIssue'>,
): Said[] {
  if (reused) return [say({ pointer: '', code: 'idempotency_key_reused' })]
  const found: Said[] = JSON.parse(errors ?? '[]')
  const keys: [number, ...(string | null)[]][] = JSON.parse(unknown_keys ?? '[]')
  for (const [index, ...values] of keys) {
    const key = resource.keyFromColumns(values.slice(0, -1))
    found.push(say(refusalOf(resource, { form, index, key }, values.at(-1))))
  }
  return firstOf(byRecord(found))
}

/** What of a delivery's line its errors follow from. */
type Logged = Pick<Delivery, 'errors' | 'unknown_keys' | 'form' | 'reused'>

/** The first errors, as many as the log may show. */
function firstOf(errors: readonly Said[]): Said[] {
  let bytes = 2
  const end = errors.slice(0, LOGGED).findIndex((error) => {
    bytes += new TextEncoder().encode(JSON.stringify(error)).length + 1
    return bytes > LOGGED_BYTES
  })
  return errors.slice(0, end < 0 ? LOGGED : end)
}
