import type { FormattedIssue } from '../validation/messages.ts'
import { type LoggedErrors, readAllErrors } from './delivery-errors.ts'
import { recordPointer } from './envelope.ts'
import type { Resource } from './resource.ts'

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
export const MAX_GROUPS = 100

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
