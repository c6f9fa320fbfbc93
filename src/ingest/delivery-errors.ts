import type { Delivery } from '../platform/db/schema.ts'
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

/** The errors of several records that have the same code and place. */
export interface ErrorGroup {
  code: string
  /** The pointer with `*` in place of the position of the record. */
  pointer: string
  count: number
  /** The first of these errors. */
  example: FormattedIssue
}

/** The errors of a delivery as the log keeps them. */
export interface LoggedErrors {
  /** All errors, grouped by code and place, the most frequent ones first. */
  readonly groups: readonly ErrorGroup[]
  /** The first errors. */
  readonly errors: readonly FormattedIssue[]
}

/** The maximum number of groups that the log keeps of a delivery. */
const MAX_GROUPS = 100

/** The contract: a delivery in full lists at most 100 errors and 64 KiB of them. */
const MAX_LISTED_ERRORS = 100
const MAX_LISTED_BYTES = 65_536

/** The resource of a request and the form of its body. */
type LogContext = Pick<Resource, 'fields' | 'loggedKey'> & { form: BodyForm }

/**
 * Returns the errors for the log of deliveries. The log must hold nothing that an erasure would have to remove: its rows
 * cannot be found by their customer. So of the values as sent it keeps only ids, and it names no additional field of a
 * brand.
 */
export function toLoggedErrors(issues: readonly Issue[], context: LogContext): LoggedErrors {
  const listed = prioritizeErrors(issues)
    .slice(0, MAX_LISTED_ERRORS)
    .map((issue) => formatLogged(issue, context))
  return {
    groups: groupErrors(inRecordOrder(issues), context),
    errors: inRecordOrder(withinLogBytes(listed)),
  }
}

function groupErrors(issues: readonly Issue[], context: LogContext): ErrorGroup[] {
  const { form } = context
  const groups = new Map<string, ErrorGroup>()
  for (const issue of issues) {
    const pointer = loggedPointer(issue, form, '*')
    const key = `${issue.code} ${pointer}`
    const group = groups.get(key)
    if (group) group.count += 1
    else {
      const example = formatLogged(issue, context)
      groups.set(key, { code: issue.code, pointer, count: 1, example })
    }
  }
  return [...groups.values()].sort((a, b) => b.count - a.count).slice(0, MAX_GROUPS)
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

/** Returns the pointer that the log keeps, with `at` in place of the position of the record. */
function loggedPointer(
  { pointer, index, isInAdditionalField }: Issue,
  form: BodyForm,
  at: number | '*' | undefined = index,
): string {
  if (index === undefined || at === undefined) return mapPointer(pointer, shortenLogged)
  const place = recordPointer(form, at)
  const rest = isInAdditionalField ? '' : pointer.slice(recordPointer(form, index).length)
  return place + mapPointer(rest, shortenLogged)
}

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

/** Returns the errors that the log has of a delivery; none if it kept none. */
export const readErrors = ({ errors }: Pick<Delivery, 'errors'>): LoggedErrors =>
  errors === null ? { groups: [], errors: [] } : JSON.parse(errors)
