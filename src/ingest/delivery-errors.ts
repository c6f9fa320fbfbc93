import { type LoggedValue, presentLogged, shortenLogged } from '../db/records/wire-form.ts'
import type { Delivery } from '../db/schema.ts'
import type { Issue } from '../validation/issue.ts'
import { type FormattedIssue, formatIssue, formatUnquoted } from '../validation/messages.ts'
import { mapPointer } from '../validation/pointer.ts'
import { validateField } from '../validation/strict-object.ts'
import { type BodyForm, recordPointer } from './envelope.ts'
import { inRecordOrder, prioritizeErrors } from './error-order.ts'
import { packErrors, unpackErrors } from './packed-errors.ts'
import { type Resource, toReferenceIssue } from './resource.ts'

/** The contract: a delivery in full lists at most 100 errors and 64 KiB of them. */
const MAX_LISTED_ERRORS = 100
const MAX_LISTED_BYTES = 65_536

/** The resource of a request and the form of its body. */
type LogContext = Pick<Resource, 'fields' | 'loggedKey'> & { form: BodyForm }

/**
 * Returns the errors for the log of deliveries as JSON, or null if there are none. The log must hold
 * nothing that an erasure would have to remove: its rows cannot be found by their customer. So of the
 * values as sent it keeps only ids, and it names no additional field of a brand.
 */
export function serializeErrors(issues: readonly Issue[], context: LogContext): string | null {
  return issues.length === 0
    ? null
    : packErrors(loggedErrors(prioritizeErrors(issues), context), context.form)
}

/** Yields errors as the log keeps them; the caller stops at the size limit of the log. */
function* loggedErrors(
  issues: readonly Issue[],
  context: LogContext,
): Generator<FormattedIssue, void> {
  const keys = new Map<number, Issue['key']>()
  for (const issue of issues) {
    const { index = -1 } = issue
    const key = keys.has(index) ? keys.get(index) : loggedKeyOf(issue, context)
    keys.set(index, key)
    yield formatUnquoted(toLogged(issue, key, context.form))
  }
}

/** Returns an issue with the key and the pointer that the log keeps. */
function toLogged({ key: _, ...issue }: Issue, key: Issue['key'], form: BodyForm): Issue {
  const pointer =
    issue.isInAdditionalField && issue.index !== undefined
      ? recordPointer(form, issue.index)
      : mapPointer(issue.pointer, shortenLogged)
  return { ...issue, ...(key && { key }), pointer }
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

/** The parts of a resource that are needed to read the errors of a logged delivery. */
type LogReader = Pick<
  Resource,
  'recordTable' | 'keyFromColumns' | 'referenceMember' | 'referenceIssue'
>

/** Returns the first errors of a logged delivery: at most 100, and 64 KiB of them. */
export function readErrors(delivery: LoggedErrors, resource: LogReader): FormattedIssue[] {
  const prioritized = prioritizeErrors(readAllErrors(delivery, resource))
  return inRecordOrder(withinLogBytes(prioritized.slice(0, MAX_LISTED_ERRORS)))
}

/** Returns all errors that the log keeps of a delivery: those of its records and those of its references. */
export function readAllErrors(
  { errors, unknown_keys, form, reused, hold_refused }: LoggedErrors,
  resource: LogReader,
): FormattedIssue[] {
  if (reused) return [formatIssue({ pointer: '', code: 'idempotency_key_reused' })]
  const unknownKeys: [number, ...LoggedValue[]][] = JSON.parse(unknown_keys ?? '[]')
  const { recordTable } = resource
  const names = [...recordTable.key, recordTable.reference?.column]
  const referenceErrors = unknownKeys.map(([index, ...logged]) => {
    const values = logged.map((value, i) => presentLogged(recordTable, names[i] ?? '', value))
    const key = resource.keyFromColumns(values.slice(0, -1))
    const place = { form, index, key }
    const isHoldRefused = hold_refused === 1
    const issue = toReferenceIssue(resource, place, values.at(-1), isHoldRefused)
    return formatIssue(withShortKey(issue))
  })
  return inRecordOrder([...unpackErrors(errors, form), ...referenceErrors])
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
export type LoggedErrors = Pick<
  Delivery,
  'errors' | 'unknown_keys' | 'form' | 'reused' | 'hold_refused'
>

/** Returns the first errors that fit into a response. */
function withinLogBytes(errors: readonly FormattedIssue[]): FormattedIssue[] {
  let bytes = '[]'.length
  const end = errors.findIndex((error) => {
    bytes += new TextEncoder().encode(JSON.stringify(error)).length + ','.length
    return bytes > MAX_LISTED_BYTES
  })
  return errors.slice(0, end < 0 ? errors.length : end)
}
