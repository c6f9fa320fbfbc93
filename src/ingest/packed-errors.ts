import type { IssueCode } from '../validation/issue.ts'
import type { FormattedIssue } from '../validation/messages.ts'
import { type BodyForm, recordPointer } from './envelope.ts'

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
export const recordIdOf = (key: Record<string, string> | undefined): string | null =>
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
export function unpackErrors(logged: string | null, form: BodyForm): FormattedIssue[] {
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
