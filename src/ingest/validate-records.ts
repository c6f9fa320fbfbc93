import type { Issue } from '../validation/issue.ts'
import {
  isObject,
  MAX_LISTED_PER_RECORD,
  type RecordCheck,
  type RecordValidator,
} from '../validation/record-validator.ts'
import type { Warning } from '../validation/warnings.ts'
import { type BodyForm, recordPointer, unwrap } from './envelope.ts'

/** A record that breaks no rule. */
export interface ValidRecord {
  index: number
  record: Record<string, unknown>
  warnings: Warning[]
  /** How many more warnings there would be. */
  omittedWarnings: number
}

/** A request, validated. */
export interface ValidatedRequest {
  form: BodyForm
  /** The records as they were sent. */
  records: readonly unknown[]
  valid: ValidRecord[]
  /** The others, as far as they are right: what they refer to is checked all the same. */
  invalid: Pick<ValidRecord, 'index' | 'record'>[]
  /** The errors that are written out, by record; `errorsTotal` counts the others, too. */
  issues: Issue[]
  errorsTotal: number
  invalidCount: number
}

/** Judges a body. Pure: it reads no request, and throws nothing. */
export function validateRecords(body: unknown, validator: RecordValidator): ValidatedRequest {
  const { form, sent, issues } = unwrap(body, validator.acceptsDataWrapper)
  const validated: ValidatedRequest = {
    form,
    records: sent,
    valid: [],
    invalid: [],
    issues,
    errorsTotal: issues.length,
    invalidCount: 0,
  }
  const isWhole = issues.length === 0
  if (issues.some(({ code }) => code !== 'unknown_field'))
    return { ...validated, invalidCount: sent.length }

  const names = sent.map((record) => (isObject(record) ? validator.identityOf(record) : null))
  const isRepeated = findRepeated(names)
  for (const [index, record] of sent.entries()) {
    const {
      issues: found,
      output,
      warnings,
    } = isObject(record) ? validator.validate(record) : NOT_AN_OBJECT
    if (isRepeated(index)) found.push({ pointer: '', code: 'duplicate_key' })
    if (found.length === 0 && isWhole) {
      const omittedWarnings = warnings.splice(MAX_LISTED_PER_RECORD).length
      for (const warning of warnings) warning.pointer = recordPointer(form, index) + warning.pointer
      validated.valid.push({ index, record: output, warnings, omittedWarnings })
      continue
    }
    validated.invalidCount += 1
    validated.errorsTotal += found.length
    validated.invalid.push({ index, record: output })
    const at = recordPointer(form, index)
    const key = keyOfRecord(record, validator)
    for (const issue of found.slice(0, MAX_LISTED_PER_RECORD)) {
      issues.push({ index, ...(key && { key }), ...issue, pointer: at + issue.pointer })
    }
  }
  return validated
}

/** Whether the name at a place was there before it: what comes in order, or has none, was not. */
function findRepeated(names: readonly (string | null)[]): (index: number) => boolean {
  const said = names.filter((name) => name !== null)
  if (said.every((name, i) => i === 0 || name > said[i - 1]!)) return () => false
  const first = new Map(names.map((name, index) => [name, index] as const).reverse())
  return (index) => names[index] !== null && first.get(names[index]!) !== index
}

const NOT_AN_OBJECT: RecordCheck = {
  issues: [{ pointer: '', code: 'type', expected: 'object' }],
  output: {},
  warnings: [],
}

/** The key of a record as it was sent, if that is an object. */
export const keyOfRecord = (record: unknown, { keyOf }: Pick<RecordValidator, 'keyOf'>) =>
  isObject(record) ? keyOf(record) : undefined
