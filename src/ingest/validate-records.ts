import type { Issue } from '../validation/issue.ts'
import {
  type Checked,
  type Entity,
  isObject,
  MAX_PER_RECORD,
} from '../validation/record-validator.ts'
import type { Warning } from '../validation/warnings.ts'
import { type Form, pointerOf, unwrap } from './envelope.ts'

/** A record that breaks no rule. */
export interface Good {
  index: number
  record: Record<string, unknown>
  warnings: Warning[]
  /** How many more warnings there would be. */
  unsaid: number
}

/** A request, judged. */
export interface Judged {
  form: Form
  /** The records as they were sent. */
  sent: readonly unknown[]
  good: Good[]
  /** The others, as far as they are right: what they refer to is checked all the same. */
  bad: Pick<Good, 'index' | 'record'>[]
  /** The errors that are written out, by record; `errorsTotal` counts the others, too. */
  issues: Issue[]
  errorsTotal: number
  wrong: number
}

/** Judges a body. Pure: it reads no request, and throws nothing. */
export function judge(body: unknown, entity: Entity): Judged {
  const { form, sent, issues } = unwrap(body, entity.wraps)
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

  const names = sent.map((record) => (isObject(record) ? entity.nameOf(record) : null))
  const isRepeated = repeated(names)
  for (const [index, record] of sent.entries()) {
    const { found, output, warnings } = isObject(record) ? entity.check(record) : NO_OBJECT
    if (isRepeated(index)) found.push({ pointer: '', code: 'duplicate_key' })
    if (found.length === 0 && isWhole) {
      const unsaid = warnings.splice(MAX_PER_RECORD).length
      for (const warning of warnings) warning.pointer = pointerOf(form, index) + warning.pointer
      judged.good.push({ index, record: output, warnings, unsaid })
      continue
    }
    judged.wrong += 1
    judged.errorsTotal += found.length
    judged.bad.push({ index, record: output })
    const at = pointerOf(form, index)
    const key = keyIn(record, entity)
    for (const issue of found.slice(0, MAX_PER_RECORD)) {
      issues.push({ index, ...(key && { key }), ...issue, pointer: at + issue.pointer })
    }
  }
  return judged
}

/** Whether the name at a place was there before it: what comes in order, or has none, was not. */
function repeated(names: readonly (string | null)[]): (index: number) => boolean {
  const said = names.filter((name) => name !== null)
  if (said.every((name, i) => i === 0 || name > said[i - 1]!)) return () => false
  const first = new Map(names.map((name, index) => [name, index] as const).reverse())
  return (index) => names[index] !== null && first.get(names[index]!) !== index
}

const NO_OBJECT: Checked = {
  found: [{ pointer: '', code: 'type', expected: 'object' }],
  output: {},
  warnings: [],
}

/** The key of a record as it was sent, if that is an object. */
export const keyIn = (record: unknown, { keyOf }: Pick<Entity, 'keyOf'>) =>
  isObject(record) ? keyOf(record) : undefined
