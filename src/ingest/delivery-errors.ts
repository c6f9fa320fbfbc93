import type { Issue } from '../platform/validation/issue.ts'
import {
  type FormattedIssue,
  formatIssue,
  formatUnquoted,
} from '../platform/validation/messages.ts'
import { mapPointer } from '../platform/validation/pointer.ts'
import { validateField } from '../platform/validation/strict-object.ts'
import { shortenLogged } from './db/list.ts'
import { type BodyForm, recordPointer } from './envelope.ts'
import { inRecordOrder, prioritizeErrors } from './error-order.ts'
import type { Resource } from './resource.ts'

/** The contract: a delivery in full lists at most 100 errors and 64 KiB of them. */
const MAX_LISTED_ERRORS = 100
const MAX_LISTED_BYTES = 65_536

/** The resource of a request and the form of its body. */
type LogContext = Pick<Resource, 'fields' | 'loggedKey'> & { form: BodyForm }

/**
 * Returns the first errors, for the log of deliveries. The log must hold nothing that an erasure would have to remove: its rows
 * cannot be found by their customer. So of the values as sent it keeps only ids, and it names no additional field of a
 * brand.
 */
export function toLoggedErrors(issues: readonly Issue[], context: LogContext): FormattedIssue[] {
  const listed = prioritizeErrors(issues)
    .slice(0, MAX_LISTED_ERRORS)
    .map((issue) => formatLogged(issue, context))
  return inRecordOrder(withinLogBytes(listed))
}

/** The issues that quote an id alone. */
const QUOTED: readonly string[] = [
  'unknown_customer',
  'unknown_affiliate',
] satisfies Issue['code'][]

/** Returns an issue with the key, the pointer and the message that the log keeps. */
function formatLogged(issue: Issue, context: LogContext): FormattedIssue {
  const { key: _, ...others } = issue
  const key = loggedKeyOf(issue, context)
  const logged = { ...others, ...(key && { key }), pointer: loggedPointer(issue, context.form) }
  return QUOTED.includes(issue.code) ? formatIssue(logged) : formatUnquoted(logged)
}

/** Returns the pointer that the log keeps. */
const loggedPointer = ({ pointer, index, isInAdditionalField }: Issue, form: BodyForm): string =>
  isInAdditionalField && index !== undefined
    ? recordPointer(form, index)
    : mapPointer(pointer, shortenLogged)

/** Returns the valid ids of a record's key, shortened; undefined if there are none. */
function loggedKeyOf({ key }: Issue, { fields, loggedKey }: LogContext): Issue['key'] {
  const members = Object.entries(key ?? {}).filter(
    ([name, value]) => loggedKey.includes(name) && isValid(fields, name, value),
  )
  if (members.length === 0) return undefined
  return Object.fromEntries(members.map(([name, value]) => [name, shortenLogged(value)]))
}

function isValid(fields: Resource['fields'], name: string, value: string): boolean {
  const field = fields[name]
  return field !== undefined && validateField(name, value, field).issue === null
}

/** Returns the first errors that fit into a response. */
function withinLogBytes(errors: readonly FormattedIssue[]): FormattedIssue[] {
  let bytes = '[]'.length
  const end = errors.findIndex((error) => {
    bytes += new TextEncoder().encode(JSON.stringify(error)).length + ','.length
    return bytes > MAX_LISTED_BYTES
  })
  return errors.slice(0, end < 0 ? errors.length : end)
}
