import type { FoundPage, Page } from '../db/paginate.ts'
import { type LoggedValue, presentLogged, shortenLogged } from '../db/records/list.ts'
import type { Delivery } from '../db/schema.ts'
import type { Issue, IssueCode } from '../validation/issue.ts'
import { type FormattedIssue, formatIssue, formatUnquoted } from '../validation/messages.ts'
import { mapPointer } from '../validation/pointer.ts'
import { validateField } from '../validation/strict-object.ts'
import { type BodyForm, recordPointer } from './envelope.ts'
import { inRecordOrder, prioritizeErrors } from './error-order.ts'
import { type Resource, toReferenceIssue } from './resource.ts'

/** An error of a refused record, as the log keeps it. */
export type RecordError = Omit<FormattedIssue, 'index' | 'key'>

/** A refused record with its errors; without `index`, the errors of the whole body. */
export interface RefusedRecord {
  index?: number
  key?: Record<string, string>
  errors: RecordError[]
}

/** The errors of several records that have the same code and place. */
export interface ErrorGroup {
  code: string
  /** The pointer with `*` in place of the position of the record. */
  pointer: string
  count: number
  /** The first of these errors. */
  example: FormattedIssue
}

/** The maximum number of groups of errors that a delivery shows. */
const MAX_GROUPS = 100

/** Returns the refused records of a logged delivery, in their order, each with its errors. */
export function refusedRecords(delivery: LoggedErrors, resource: Resource): RefusedRecord[] {
  const byIndex = Map.groupBy(readAllErrors(delivery, resource), ({ index }) => index)
  return [...byIndex].map(([index, errors]) => {
    const key = errors.find((error) => error.key)?.key
    return {
      ...(index !== undefined && { index }),
      ...(key && { key }),
      errors: errors.map(({ index: _, key: __, ...error }) => error),
    }
  })
}

/** Returns one page of the refused records of a delivery; errors of the whole body come first. */
export function pageOfRefused(
  records: readonly RefusedRecord[],
  { after, number, size }: Page,
): FoundPage<RefusedRecord> {
  const position = ({ index = -1 }: RefusedRecord) => index
  const isRest = (record: RefusedRecord) => !after || position(record) > Number(after[0])
  const first = after ? 0 : (number - 1) * size
  const rest = records.filter(isRest).slice(first)
  const data = rest.slice(0, size)
  const last = data.at(-1)
  return {
    data,
    total: records.length,
    isLimited: false,
    last: last && rest.length > size ? [position(last)] : null,
  }
}

/** Groups the errors of a logged delivery by code and place, the most frequent ones first. */
export function groupErrors(delivery: LoggedErrors, resource: Resource): ErrorGroup[] {
  const { form } = delivery
  const patternOf = ({ index, pointer }: FormattedIssue) =>
    index === undefined || form === 'object'
      ? pointer
      : recordPointer(form, '*') + pointer.slice(recordPointer(form, index).length)
  const groups = new Map<string, ErrorGroup>()
  for (const error of readAllErrors(delivery, resource)) {
    const pointer = patternOf(error)
    const key = JSON.stringify([error.code, pointer])
    const group = groups.get(key) ?? { code: error.code, pointer, count: 0, example: error }
    group.count += 1
    groups.set(key, group)
  }
  return [...groups.values()].sort((a, b) => b.count - a.count).slice(0, MAX_GROUPS)
}

/** The log keeps at most 256 KiB of errors of a delivery. */
export const MAX_PACKED_BYTES = 256 * 1024

/** An error without its record: the pointer into the record, the code, the message and the hint. */
type Kind = readonly [pointer: string, code: IssueCode, message: string, hint?: string]

/**
 * The errors of one record, or of the whole body: the position of the record or null for the body, the
 * numbers of its kinds of errors, the id by which a search finds the record or null, and the members of
 * its key, if it has any.
 */
type PackedRecord = [
  index: number | null,
  kinds: (number | Kind)[],
  id: string | null,
  key?: Record<string, string>,
]

/** The errors of a delivery as the log keeps them: an error that many records have is written once. */
export interface PackedErrors {
  kinds: Kind[]
  records: PackedRecord[]
}

/** Returns the id by which a refused record is found: its own, or that of its customer if it has none. */
const recordIdOf = (key: Record<string, string> | undefined): string | null =>
  key?.transaction_id ??
  key?.eventid ??
  key?.customer_id ??
  key?.customerid ??
  key?.customerId ??
  null

/** The number of bytes that a value takes as JSON. */
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length

/** The bytes of the outermost brackets and names, and of a reference to a kind. */
const FRAME_BYTES = 40
const REFERENCE_BYTES = 6

/**
 * Returns the errors of a delivery packed as JSON, at most 256 KiB of them. The caller passes the first
 * error of each record before the second of each; see `prioritizeErrors`.
 */
export function packErrors(errors: Iterable<FormattedIssue>, form: BodyForm): string {
  const kinds = new Map<string, number>()
  const records = new Map<number | null, PackedRecord>()
  let bytes = FRAME_BYTES
  for (const { index = null, key, pointer, code, message, hint } of errors) {
    const at = index === null ? '' : recordPointer(form, index)
    const kind = JSON.stringify([pointer.slice(at.length), code, message, ...(hint ? [hint] : [])])
    const record = records.get(index) ?? newRecord(index, key)
    bytes += REFERENCE_BYTES
    if (!kinds.has(kind)) bytes += bytesOf(kind)
    if (!records.has(index)) bytes += bytesOf(record)
    if (bytes > MAX_PACKED_BYTES) break
    const number = kinds.get(kind) ?? kinds.size
    kinds.set(kind, number)
    record[1].push(number)
    records.set(index, record)
  }
  const sorted = [...records.values()].sort((a, b) => positionOf(a) - positionOf(b))
  return `{"kinds":[${[...kinds.keys()].join()}],"records":${JSON.stringify(sorted)}}`
}

/** Returns the position of a record; errors of the body as a whole come first. */
const positionOf = ([index]: PackedRecord): number => index ?? -1

function newRecord(index: number | null, key: Record<string, string> | undefined): PackedRecord {
  const id = recordIdOf(key)
  return key ? [index, [], id, key] : [index, [], id]
}

/** Returns the errors of a delivery from the log. */
function unpackErrors(logged: string | null, form: BodyForm): FormattedIssue[] {
  if (logged === null) return []
  const { kinds, records }: PackedErrors = JSON.parse(logged)
  return records.flatMap(([index, numbers, , key]) => {
    const at = index === null ? '' : recordPointer(form, index)
    const place = { ...(index !== null && { index }), ...(key && { key }) }
    return numbers
      .flatMap((kind) => (typeof kind === 'number' ? kinds.slice(kind, kind + 1) : [kind]))
      .map(([pointer, code, message, hint]) => ({
        ...place,
        pointer: at + pointer,
        code,
        message,
        ...(hint && { hint }),
      }))
  })
}

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
function readAllErrors(
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
type LoggedErrors = Pick<Delivery, 'errors' | 'unknown_keys' | 'form' | 'reused' | 'hold_refused'>

/** Returns the first errors that fit into a response. */
function withinLogBytes(errors: readonly FormattedIssue[]): FormattedIssue[] {
  let bytes = '[]'.length
  const end = errors.findIndex((error) => {
    bytes += new TextEncoder().encode(JSON.stringify(error)).length + ','.length
    return bytes > MAX_LISTED_BYTES
  })
  return errors.slice(0, end < 0 ? errors.length : end)
}
