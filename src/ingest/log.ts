import type { Delivery } from '../db/tables.ts'
import { byRecord, type Intake, unknownReference } from './intake.ts'
import { type Issue, type Said, say } from './words.ts'

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
  { errors, unknown_keys, form }: Pick<Delivery, 'errors' | 'unknown_keys' | 'form'>,
  { key, shelf }: Pick<Intake, 'key' | 'shelf'>,
): Said[] {
  const found: Said[] = JSON.parse(errors ?? '[]')
  const keys: [number, ...(string | null)[]][] = JSON.parse(unknown_keys ?? '[]')
  for (const [index, ...values] of keys) {
    const sent = key.flatMap((name, i) => (values[i] ? [[name, values[i]] as const] : []))
    const named = sent.length > 0 ? Object.fromEntries(sent) : undefined
    found.push(say(unknownReference(shelf, { form, index, key: named }, values.at(-1))))
  }
  return firstOf(byRecord(found))
}

/** The first errors, as many as the log may show. */
function firstOf(errors: readonly Said[]): Said[] {
  let bytes = 2
  const end = errors.slice(0, LOGGED).findIndex((error) => {
    bytes += new TextEncoder().encode(JSON.stringify(error)).length + 1
    return bytes > LOGGED_BYTES
  })
  return errors.slice(0, end < 0 ? LOGGED : end)
}
