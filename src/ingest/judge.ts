import * as v from 'valibot'
import { id, type Rule } from '../fields.ts'
import { type Form, pointerOf, step, unwrap } from './envelope.ts'
import type { Issue } from './words.ts'

/** The contract: of one record at most so many errors are written out. */
export const MAX_PER_RECORD = 10

/** Something the sender should know of a record that is stored. */
export interface Warning {
  code: string
  pointer: string
  message: string
}

/** What the records of a request are judged by. */
export interface Entity {
  readonly schema: v.ObjectSchema<v.ObjectEntries, undefined>
  /** The members that tell one record from another, as they are named on the wire. */
  readonly key: readonly string[]
  /** The members whose values are nobody's business, and never said back. */
  readonly personal: ReadonlySet<string>
  /** What to tell of a record that is good; pointers are within the record. */
  readonly warn: (record: Record<string, unknown>) => Warning[]
}

/** A record that breaks no rule. */
export interface Good {
  index: number
  record: Record<string, unknown>
  warnings: Warning[]
}

/** A request, judged. */
export interface Judged {
  form: Form
  /** The records as they were sent. */
  sent: readonly unknown[]
  good: Good[]
  /** The others, as far as they are right: what they refer to is checked all the same. */
  bad: Omit<Good, 'warnings'>[]
  /** The errors that are written out, by record; `errorsTotal` counts the others, too. */
  issues: Issue[]
  errorsTotal: number
  wrong: number
}

/** Judges a body. Pure: it reads no request, and throws nothing. */
export function judge(body: unknown, entity: Entity): Judged {
  const { form, sent, issues } = unwrap(body)
  const judged: Judged = {
    form,
    sent,
    good: [],
    bad: [],
    issues,
    errorsTotal: issues.length,
    wrong: 0,
  }
  const isWhole = issues.length === 0
  if (issues.some(({ code }) => code !== 'unknown_field')) return { ...judged, wrong: sent.length }

  const seen = new Set<string>()
  for (const [index, record] of sent.entries()) {
    const at = pointerOf(form, index)
    const { found, output } = broken(record, entity)
    const name = nameOf(record, entity.key)
    if (name !== null && seen.has(name)) found.push({ pointer: '', code: 'duplicate_key' })
    else if (name !== null) seen.add(name)
    if (found.length === 0 && isWhole) {
      const warnings = entity.warn(output)
      for (const warning of warnings) warning.pointer = at + warning.pointer
      judged.good.push({ index, record: output, warnings })
      continue
    }
    judged.wrong += 1
    judged.errorsTotal += found.length
    judged.bad.push({ index, record: output })
    const key = keyOf(record, entity.key)
    for (const issue of found.slice(0, MAX_PER_RECORD)) {
      issues.push({ index, ...(key && { key }), ...issue, pointer: at + issue.pointer })
    }
  }
  return judged
}

/** One text for all members of a record's key; null where one of them is no text. */
function nameOf(record: unknown, key: readonly string[]): string | null {
  if (typeof record !== 'object' || record === null) return null
  const members = key.map((name) => (record as Record<string, unknown>)[name])
  if (!members.every((member) => typeof member === 'string')) return null
  return members.length === 1 ? members[0]! : JSON.stringify(members)
}

/** The members of a record's key, as sent, less those that are no good as one; none: undefined. */
export function keyOf(record: unknown, key: readonly string[]): Record<string, string> | undefined {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return undefined
  const members = record as Record<string, unknown>
  const good = key.filter((name) => Object.hasOwn(members, name) && v.is(id, members[name]))
  if (good.length === 0) return undefined
  return Object.fromEntries(good.map((name) => [name, members[name] as string]))
}

/** One rule a field: the first that is broken explains the others. */
const CONFIG = {
  abortPipeEarly: true,
  message: ({ expected }: v.BaseIssue<unknown>) => `type ${expected}`,
} as const

interface Broken {
  found: Issue[]
  output: Record<string, unknown>
}

/** The rules that one record breaks; pointers are within the record. */
function broken(record: unknown, { schema, personal }: Entity): Broken {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    return { found: [{ pointer: '', code: 'type', expected: 'object' }], output: {} }
  }
  const { entries } = schema
  const found: Issue[] = []
  const output: Record<string, unknown> = {}
  let known = 0
  // Field by field: to parse the record as a whole takes half as long again, and drops what is
  // unknown without a word.
  for (const name in entries) {
    const value = (record as Record<string, unknown>)[name]
    const field = entries[name]!
    const isOptional = field.type === 'optional'
    if (value !== undefined) known += 1
    if (value === undefined && isOptional) continue
    if (value === undefined || (value === null && !isOptional)) {
      found.push({ pointer: step(name), code: 'required' })
      continue
    }
    const result = field['~run']({ value }, CONFIG)
    if (result.issues) found.push(dataOf(name, value, result.issues[0], personal))
    else output[name] = result.value
  }
  const names = Object.keys(record)
  if (names.length === known) return { found, output }
  for (const name of names) {
    if (Object.hasOwn(entries, name)) continue
    found.push({ pointer: step(name), code: 'unknown_field', names: Object.keys(entries) })
  }
  return { found, output }
}

function dataOf(
  name: string,
  value: unknown,
  { message }: v.BaseIssue<unknown>,
  personal: ReadonlySet<string>,
): Issue {
  const [code = '', ...expected] = message.split(' ')
  const shown = (typeof value === 'string' || typeof value === 'number') && !personal.has(name)
  return {
    pointer: step(name),
    code: code as Rule,
    ...(expected.length > 0 && { expected: expected.join(' ') }),
    ...(shown && { value }),
  }
}
