import * as v from 'valibot'
import { type CompiledField, compileField, INVALID } from './compile.ts'
import { id } from './fields.ts'
import type { Issue, IssueCode } from './issue.ts'
import { pointerStep } from './pointer.ts'
import type { RecordCheck, RecordValidator } from './record-validator.ts'
import type { Warning } from './warnings.ts'

/** The fields of a record that has no others. */
export type ObjectFields = v.ObjectSchema<v.ObjectEntries, undefined>

/** What a record with these fields and no others is judged by; its key must not be there twice. */
export const strictObject = (
  fields: ObjectFields,
  key: readonly string[],
  personal: ReadonlySet<string>,
  warn: (record: Record<string, unknown>) => Warning[],
): RecordValidator => ({
  acceptsDataWrapper: true,
  identityOf: (record) => nameOf(record, key),
  keyOf: (record) => keyOf(record, key),
  validate: (record) => {
    const { issues, output } = validateObject(record, fields, personal)
    return { issues, output, warnings: issues.length === 0 ? warn(output) : [] }
  },
})

/** One text for all members of a record's key; null where one of them is no text. */
function nameOf(record: object, key: readonly string[]): string | null {
  const sent = record as Record<string, unknown>
  const only = sent[key[0]!]
  if (key.length === 1) return typeof only === 'string' ? only : null
  const members = key.map((name) => sent[name])
  return members.every((member) => typeof member === 'string') ? JSON.stringify(members) : null
}

/** The members of a record's key, as sent, less those that are no good as one; none: undefined. */
export function keyOf(record: object, key: readonly string[]): Record<string, string> | undefined {
  const members = record as Record<string, unknown>
  const good = key.filter((name) => Object.hasOwn(members, name) && v.is(id, members[name]))
  if (good.length === 0) return undefined
  return Object.fromEntries(good.map((name) => [name, members[name] as string]))
}

/** Nothing of what is judged is personal. */
const NO_PERSONAL_FIELDS: ReadonlySet<string> = new Set()

/** One rule a field: the first that is broken explains the others. */
const CONFIG = {
  abortPipeEarly: true,
  message: ({ expected }: v.BaseIssue<unknown>) => `type ${expected}`,
} as const

/** A field, made ready to judge many values. */
interface CompiledEntry {
  readonly name: string
  readonly field: v.GenericSchema
  readonly isOptional: boolean
  readonly run: CompiledField
}

const compiled = new WeakMap<v.ObjectEntries, readonly CompiledEntry[]>()

function compileEntries(entries: v.ObjectEntries): readonly CompiledEntry[] {
  const known = compiled.get(entries)
  if (known) return known
  const fields = Object.entries(entries as Record<string, v.GenericSchema>)
  const ready = fields.map(([name, field]) => {
    return { name, field, isOptional: field.type === 'optional', run: compileField(field) }
  })
  compiled.set(entries, ready)
  return ready
}

/**
 * The rules that one record breaks; pointers are within the record. Where all of it is right as it
 * was sent, what is right is the record itself.
 */
export function validateObject(
  record: object,
  { entries }: Pick<ObjectFields, 'entries'>,
  personal: ReadonlySet<string> = NO_PERSONAL_FIELDS,
): Pick<RecordCheck, 'issues' | 'output'> {
  const sent = record as Record<string, unknown>
  const issues: Issue[] = []
  let output = sent
  let known = 0
  const own = () => {
    if (output === sent) output = { ...sent }
    return output
  }
  // Field by field: to parse the record as a whole takes half as long again, and drops what is
  // unknown without a word.
  for (const { name, field, isOptional, run } of compileEntries(entries)) {
    const value = sent[name]
    if (value !== undefined) known += 1
    else if (isOptional) continue
    const right = run(value)
    if (right === value) continue
    if (right !== INVALID) {
      own()[name] = right
      continue
    }
    delete own()[name]
    if (value === undefined || (value === null && !isOptional)) {
      issues.push({ pointer: pointerStep(name), code: 'required' })
    } else issues.push(validateField(name, value, field, personal).issue!)
  }
  const names = Object.keys(sent)
  if (names.length === known) return { issues, output }
  for (const name of names) {
    if (Object.hasOwn(entries, name)) continue
    delete own()[name]
    issues.push({
      pointer: pointerStep(name),
      code: 'unknown_field',
      suggestions: Object.keys(entries),
    })
  }
  return { issues, output }
}

/** What is wrong with the value of one member, or what it says; a personal value is not said back. */
export function validateField(
  name: string,
  value: unknown,
  field: v.GenericSchema,
  personal: ReadonlySet<string> = NO_PERSONAL_FIELDS,
): { issue: Issue | null; output: unknown } {
  const result = field['~run']({ value }, CONFIG)
  if (!result.issues) return { issue: null, output: result.value }
  const [code, ...expected] = result.issues[0].message.split(' ')
  const shown = (typeof value === 'string' || typeof value === 'number') && !personal.has(name)
  const issue = {
    pointer: pointerStep(name),
    code: code as IssueCode,
    ...(expected.length > 0 && { expected: expected.join(' ') }),
    ...(shown && { value }),
  }
  return { issue, output: undefined }
}
