import * as v from 'valibot'
import { BROKEN, type Pass, passOf } from './compile.ts'
import { id } from './fields.ts'
import type { Issue, Rule } from './issue.ts'
import { step } from './pointer.ts'
import type { Checked, Entity } from './record-validator.ts'
import type { Warning } from './warnings.ts'

/** The fields of a record that has no others. */
export type Fields = v.ObjectSchema<v.ObjectEntries, undefined>

/** What a record with these fields and no others is judged by; its key must not be there twice. */
export const closed = (
  fields: Fields,
  key: readonly string[],
  personal: ReadonlySet<string>,
  warn: (record: Record<string, unknown>) => Warning[],
): Entity => ({
  wraps: true,
  nameOf: (record) => nameOf(record, key),
  keyOf: (record) => keyOf(record, key),
  check: (record) => {
    const { found, output } = broken(record, fields, personal)
    return { found, output, warnings: found.length === 0 ? warn(output) : [] }
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
const NOBODY: ReadonlySet<string> = new Set()

/** One rule a field: the first that is broken explains the others. */
const CONFIG = {
  abortPipeEarly: true,
  message: ({ expected }: v.BaseIssue<unknown>) => `type ${expected}`,
} as const

/** A field, made ready to judge many values. */
interface Ready {
  readonly name: string
  readonly field: v.GenericSchema
  readonly isOptional: boolean
  readonly pass: Pass
}

const made = new WeakMap<v.ObjectEntries, readonly Ready[]>()

function readied(entries: v.ObjectEntries): readonly Ready[] {
  const known = made.get(entries)
  if (known) return known
  const fields = Object.entries(entries as Record<string, v.GenericSchema>)
  const ready = fields.map(([name, field]) => {
    return { name, field, isOptional: field.type === 'optional', pass: passOf(field) }
  })
  made.set(entries, ready)
  return ready
}

/**
 * The rules that one record breaks; pointers are within the record. Where all of it is right as it
 * was sent, what is right is the record itself.
 */
export function broken(
  record: object,
  { entries }: Pick<Fields, 'entries'>,
  personal: ReadonlySet<string> = NOBODY,
): Pick<Checked, 'found' | 'output'> {
  const sent = record as Record<string, unknown>
  const found: Issue[] = []
  let output = sent
  let known = 0
  const own = () => {
    if (output === sent) output = { ...sent }
    return output
  }
  // Field by field: to parse the record as a whole takes half as long again, and drops what is
  // unknown without a word.
  for (const { name, field, isOptional, pass } of readied(entries)) {
    const value = sent[name]
    if (value !== undefined) known += 1
    else if (isOptional) continue
    const right = pass(value)
    if (right === value) continue
    if (right !== BROKEN) {
      own()[name] = right
      continue
    }
    delete own()[name]
    if (value === undefined || (value === null && !isOptional)) {
      found.push({ pointer: step(name), code: 'required' })
    } else found.push(judged(name, value, field, personal).issue!)
  }
  const names = Object.keys(sent)
  if (names.length === known) return { found, output }
  for (const name of names) {
    if (Object.hasOwn(entries, name)) continue
    delete own()[name]
    found.push({ pointer: step(name), code: 'unknown_field', names: Object.keys(entries) })
  }
  return { found, output }
}

/** What is wrong with the value of one member, or what it says; a personal value is not said back. */
export function judged(
  name: string,
  value: unknown,
  field: v.GenericSchema,
  personal: ReadonlySet<string> = NOBODY,
): { issue: Issue | null; output: unknown } {
  const result = field['~run']({ value }, CONFIG)
  if (!result.issues) return { issue: null, output: result.value }
  const [code, ...expected] = result.issues[0].message.split(' ')
  const shown = (typeof value === 'string' || typeof value === 'number') && !personal.has(name)
  const issue = {
    pointer: step(name),
    code: code as Rule,
    ...(expected.length > 0 && { expected: expected.join(' ') }),
    ...(shown && { value }),
  }
  return { issue, output: undefined }
}
