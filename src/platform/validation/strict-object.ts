import * as v from 'valibot'
import { countCharacters, id } from './fields.ts'
import { type Issue, parseRuleMessage } from './issue.ts'
import { pointerStep } from './pointer.ts'
import {
  type JsonObject,
  jsonType,
  type RecordCheck,
  type RecordValidator,
} from './record-validator.ts'
import type { Warning } from './warnings.ts'

/** The fields of an object that has no others. */
export type ObjectFields = v.ObjectSchema<v.ObjectEntries, undefined>

/**
 * Returns the validator of records that have exactly these fields and a unique key. Messages name
 * the record by its title and never quote the value of a personal field.
 */
export const strictObject = (
  title: string,
  fields: ObjectFields,
  key: readonly string[],
  personal: ReadonlySet<string>,
  warn: (record: JsonObject) => Warning[],
): RecordValidator => {
  const entity = `a ${title.toLowerCase()}`
  return {
    acceptsDataWrapper: true,
    identityOf: identityBy(key),
    validate: (record) => {
      const { issues, output } = validateObject(record, fields, entity, personal)
      const warnings = issues.length === 0 ? warn(output) : []
      return { issues, output, warnings, key: pickKey(record, key) }
    },
  }
}

/** Returns the `identityOf` of a key. It returns null if a key member is not a string. */
function identityBy(key: readonly string[]): RecordValidator['identityOf'] {
  const [only, ...others] = key
  if (only !== undefined && others.length === 0) {
    return (record) => (typeof record[only] === 'string' ? record[only] : null)
  }
  return (record) => {
    const members = key.map((name) => record[name])
    return members.every((value) => typeof value === 'string') ? JSON.stringify(members) : null
  }
}

/** Returns the valid key members as sent; undefined if there are none. */
export function pickKey(
  record: object,
  key: readonly string[],
): Record<string, string> | undefined {
  const members: Record<string, string> = {}
  let isEmpty = true
  for (const name of key) {
    const member: unknown = Object.hasOwn(record, name) ? Reflect.get(record, name) : undefined
    if (!v.is(id, member)) continue
    members[name] = member
    isEmpty = false
  }
  return isEmpty ? undefined : members
}

/** The members that no message quotes where no others are named. */
const USUALLY_PERSONAL: ReadonlySet<string> = new Set(['email'])

/** Stops at the first broken rule of a field: later rules assume the earlier ones. */
const CONFIG = {
  abortPipeEarly: true,
  message: ({ expected }: v.BaseIssue<unknown>) => `type ${expected}`,
} as const

/**
 * Validates an object that may have these fields and no others. `output` holds the valid members,
 * parsed; it is the record itself if parsing changed nothing. `entity` names the object in messages.
 */
export function validateObject(
  record: JsonObject,
  { entries }: Pick<ObjectFields, 'entries'>,
  entity?: string,
  personal: ReadonlySet<string> = USUALLY_PERSONAL,
): Pick<RecordCheck, 'issues' | 'output'> {
  const issues: Issue[] = []
  let output = record
  const ownOutput = () => {
    if (output === record) output = { ...record }
    return output
  }
  let presentFields = 0
  // Field by field: parsing the whole record in Valibot takes half as long again, and silently
  // drops unknown fields.
  for (const name in entries) {
    const value = record[name]
    const field = entries[name] as v.GenericSchema
    const isOptional = field.type === 'optional'
    if (value !== undefined) presentFields += 1
    else if (isOptional) continue
    const result = field['~run']({ value }, CONFIG)
    if (result.issues) {
      delete ownOutput()[name]
      const isMissing = value === undefined || (value === null && !isOptional)
      issues.push(
        isMissing
          ? { pointer: pointerStep(name), code: 'required' }
          : toIssue(name, value, result.issues[0], personal),
      )
    } else if (result.value !== value) ownOutput()[name] = result.value
  }
  const names = Object.keys(record)
  if (names.length === presentFields) return { issues, output }
  const suggestions = Object.keys(entries)
  for (const name of names) {
    if (Object.hasOwn(entries, name)) continue
    delete ownOutput()[name]
    const issue: Issue = { pointer: pointerStep(name), code: 'unknown_field', suggestions }
    issues.push(entity === undefined ? issue : { ...issue, expected: entity })
  }
  return { issues, output }
}

/** Validates the value of one field; returns its issue, or null and the parsed value. */
export function validateField(
  name: string,
  value: unknown,
  field: v.GenericSchema,
  personal: ReadonlySet<string> = USUALLY_PERSONAL,
): { issue: Issue; output: undefined } | { issue: null; output: unknown } {
  const result = field['~run']({ value }, CONFIG)
  return result.issues
    ? { issue: toIssue(name, value, result.issues[0], personal), output: undefined }
    : { issue: null, output: result.value }
}

/** Returns the issue of a field from the first one that Valibot found. */
function toIssue(
  name: string,
  value: unknown,
  { message, path }: v.BaseIssue<unknown>,
  personal: ReadonlySet<string>,
): Issue {
  const rule = parseRuleMessage(message)
  // The issue of an item of a list is about the item.
  const { value: wrong } = path?.at(-1) ?? { value }
  const isQuotable = (typeof wrong === 'string' || typeof wrong === 'number') && !personal.has(name)
  return {
    pointer: [name, ...(path ?? []).map(({ key }) => String(key))].map(pointerStep).join(''),
    ...rule,
    ...(rule.code === 'type' && { received: jsonType(wrong) }),
    ...(rule.code === 'length' &&
      typeof wrong === 'string' && { received: String(countCharacters(wrong)) }),
    ...(isQuotable && { value: wrong }),
  }
}
