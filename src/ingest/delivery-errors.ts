import { type LoggedValue, presentLogged, shortenLogged } from '../db/records/wire-form.ts'
import type { Delivery } from '../db/schema.ts'
import type { Issue } from '../validation/issue.ts'
import { type FormattedIssue, formatIssue, formatUnquoted } from '../validation/messages.ts'
import { mapPointer } from '../validation/pointer.ts'
import { validateField } from '../validation/strict-object.ts'
import { type BodyForm, recordPointer } from './envelope.ts'
import { inRecordOrder, prioritizeErrors } from './error-order.ts'
import { type Resource, toReferenceIssue } from './resource.ts'

/** The contract: the log keeps at most 100 errors and 64 KiB of them per delivery. */
const MAX_LOGGED_ERRORS = 100
const MAX_LOGGED_BYTES = 65_536

/** Where the issues of a request were found. */
type LogContext = Pick<Resource, 'fields' | 'loggedKey'> & { form: BodyForm }

/**
 * Returns the errors for the log of deliveries as JSON, or null if there are none. The log must hold
 * nothing that an erasure would have to remove: its rows cannot be found by their customer. So of the
 * values as sent it keeps only ids, and it names no additional field of a brand.
 */
export function serializeErrors(issues: readonly Issue[], context: LogContext): string | null {
  if (issues.length === 0) return null
  const logged = prioritizeErrors(issues).slice(0, MAX_LOGGED_ERRORS)
  const errors = logged.map((issue) => formatUnquoted(toLogged(issue, context)))
  return JSON.stringify(inRecordOrder(withinLogBytes(errors)))
}

/** Returns an issue with the place that the log keeps. */
function toLogged(issue: Issue, { form, fields, loggedKey }: LogContext): Issue {
  const { key: sentKey, ...rest } = issue
  const members = Object.entries(sentKey ?? {}).filter(
    ([name, value]) => loggedKey.includes(name) && isValid(fields, name, value),
  )
  const key = Object.fromEntries(members.map(([name, value]) => [name, shortenLogged(value)]))
  const pointer =
    issue.isInAdditionalField && issue.index !== undefined
      ? recordPointer(form, issue.index)
      : mapPointer(issue.pointer, shortenLogged)
  return { ...rest, ...(members.length > 0 && { key }), pointer }
}

function isValid(fields: Resource['fields'], name: string, value: string): boolean {
  const field = fields[name]
  return field !== undefined && validateField(name, value, field).issue === null
}

/** Returns the errors of a logged delivery: those of its records and those of its references. */
export function readErrors(
  { errors, unknown_keys, form, reused, hold_refused }: LoggedErrors,
  resource: Pick<Resource, 'recordTable' | 'keyFromColumns' | 'referenceMember' | 'referenceIssue'>,
): FormattedIssue[] {
  if (reused) return [formatIssue({ pointer: '', code: 'idempotency_key_reused' })]
  const recordErrors: FormattedIssue[] = JSON.parse(errors ?? '[]')
  const unknownKeys: [number, ...LoggedValue[]][] = JSON.parse(unknown_keys ?? '[]')
  const { recordTable } = resource
  const names = [...recordTable.key, recordTable.reference?.column ?? '']
  const referenceErrors = unknownKeys.map(([index, ...logged]) => {
    const values = logged.map((value, i) => presentLogged(recordTable, names[i] ?? '', value))
    const key = resource.keyFromColumns(values.slice(0, -1))
    const place = { form, index, key }
    const isHoldRefused = hold_refused === 1
    const issue = toReferenceIssue(resource, place, values.at(-1), isHoldRefused)
    return formatIssue(withShortKey(issue))
  })
  const prioritized = prioritizeErrors([...recordErrors, ...referenceErrors])
  return inRecordOrder(withinLogBytes(prioritized.slice(0, MAX_LOGGED_ERRORS)))
}

/** Shortens the ids of an issue for the log. The message quotes at most 40 characters of an id. */
const withShortKey = (issue: Issue): Issue =>
  issue.key === undefined
    ? issue
    : {
        ...issue,
        key: Object.fromEntries(
          Object.entries(issue.key).map(([name, value]) => [name, shortenLogged(value)]),
        ),
      }

/** The columns of a delivery that its errors are made of. */
type LoggedErrors = Pick<Delivery, 'errors' | 'unknown_keys' | 'form' | 'reused' | 'hold_refused'>

/** Returns the first errors that fit into the log. */
function withinLogBytes(errors: readonly FormattedIssue[]): FormattedIssue[] {
  let bytes = '[]'.length
  const end = errors.findIndex((error) => {
    bytes += new TextEncoder().encode(JSON.stringify(error)).length + ','.length
    return bytes > MAX_LOGGED_BYTES
  })
  return errors.slice(0, end < 0 ? errors.length : end)
}
