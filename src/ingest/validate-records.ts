import type { Issue } from '../platform/validation/issue.ts'
import {
  isObject,
  type JsonObject,
  jsonType,
  MAX_LISTED_PER_RECORD,
  type RecordCheck,
  type RecordValidator,
} from '../platform/validation/record-validator.ts'
import type { Warning } from '../platform/validation/warnings.ts'
import { type BodyForm, placeWarnings, recordPointer, unwrap } from './envelope.ts'

/** A valid record, parsed. */
export interface ValidRecord {
  index: number
  record: JsonObject
  warnings: Warning[]
}

/** The result of validating a request. */
export interface ValidatedRequest {
  form: BodyForm
  /** The records as sent. */
  records: readonly unknown[]
  valid: ValidRecord[]
  /** The valid members of the other records; their references are checked as well. */
  invalid: Pick<ValidRecord, 'index' | 'record'>[]
  /** At most 10 errors per record, in the order of the records. */
  issues: Issue[]
  /** The number of all errors. */
  errorsTotal: number
  invalidCount: number
}

/** Validates the records of a parsed body. */
export function validateRecords(body: unknown, validator: RecordValidator): ValidatedRequest {
  const { form, records, issues } = unwrap(body, validator.acceptsDataWrapper)
  const validated: ValidatedRequest = {
    form,
    records,
    valid: [],
    invalid: [],
    issues,
    errorsTotal: issues.length,
    invalidCount: 0,
  }
  const isEnvelopeValid = issues.length === 0
  if (issues.some(({ code }) => code !== 'unknown_field')) {
    return { ...validated, invalidCount: records.length }
  }

  const isRepeated = findRepeated(
    records.map((record) => (isObject(record) ? validator.identityOf(record) : null)),
  )
  for (let index = 0; index < records.length; index++) {
    const record = records[index]
    const check = isObject(record) ? validator.validate(record) : notAnObject(record)
    if (isRepeated(index)) check.issues.push({ pointer: '', code: 'duplicate_key' })
    if (check.issues.length === 0 && isEnvelopeValid) {
      const { output: record, warnings } = check
      validated.valid.push({
        index,
        record,
        warnings: placeWarnings(warnings.slice(0, MAX_LISTED_PER_RECORD), form, index),
      })
      continue
    }
    validated.invalidCount += 1
    validated.errorsTotal += check.issues.length
    validated.invalid.push({ index, record: check.output })
    const recordIssues = check.issues.slice(0, MAX_LISTED_PER_RECORD)
    const at = recordPointer(form, index)
    const key = keyOfRecord(record, validator)
    for (const issue of recordIssues) {
      issues.push({ index, ...(key && { key }), ...issue, pointer: at + issue.pointer })
    }
  }
  return validated
}

/** Returns a function that tells whether the identity at an index occurred before. */
function findRepeated(identities: readonly (string | null)[]): (index: number) => boolean {
  const entries = identities.map((identity, index) => [identity, index] as const)
  const firstIndexes = new Map(entries.reverse())
  return (index) => {
    const identity = identities[index] ?? null
    return identity !== null && firstIndexes.get(identity) !== index
  }
}

const notAnObject = (record: unknown): RecordCheck => ({
  issues: [{ pointer: '', code: 'type', expected: 'object', received: jsonType(record) }],
  output: {},
  warnings: [],
})

/** Returns the valid key members of a record as sent; undefined if it has none. */
export const keyOfRecord = (
  record: unknown,
  { validKeyOf }: Pick<RecordValidator, 'validKeyOf'>,
) => (isObject(record) ? validKeyOf(record) : undefined)
