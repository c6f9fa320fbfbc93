import type { FieldError, Values } from '../../../pages/page.ts'
import { dayWords } from '../../../pages/parts/data.tsx'
import { issueWords, sentenceWords } from '../../../pages/parts/plain-words.ts'
import { type Field, type Members, PLAN_MEMBERS, RULE_KINDS } from './fields.ts'
import { MISSING } from './form.ts'

// Where an error of a plan is, and what it says, in the words of the form.

/** Returns the fields below a field by the names of members. */
function membersOf(field: Field): Members {
  if (field.is === 'group') return field.members
  if (field.is !== 'oneOf') return {}
  return Object.assign({}, ...Object.values(field.forms).map(({ members }) => members))
}

const small = (label: string): string =>
  /^[A-Z][a-z ]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label

/** Returns where an error of a plan is: `Rule “first-deposit”, amount`. */
export function placeWords(pointer: string, values: Values): string {
  const [, first = '', ...steps] = pointer.split('/')
  if (first !== 'rules') {
    const field = Object.hasOwn(PLAN_MEMBERS, first) ? PLAN_MEMBERS[first] : undefined
    return field?.label ?? 'The plan'
  }
  const [row] = steps
  if (row === undefined) return 'The rules'
  const path = `rules/${row}`
  const id = values(`${path}/id`).trim()
  const rule = id === '' ? `Rule ${Number(row) + 1}` : `Rule “${id}”`
  const label = LABELS.get(steps.findLast((one) => LABELS.has(one)) ?? '')
  return label === undefined ? rule : `${rule}, ${label}`
}

/** The labels of fields, by the names of their members. */
type Labels = ReadonlyMap<string, string>

/** Returns the labels of fields by the names of members: of several with one name that of the outermost. */
export const labelsOf = (all: Members): Labels => {
  const labels = new Map<string, string>()
  const walk = (members: Members): void => {
    for (const [name, { label }] of Object.entries(members)) {
      if (!labels.has(name)) labels.set(name, small(label))
    }
    for (const field of Object.values(members)) {
      walk(membersOf(field.is === 'rows' ? field.item : field))
    }
  }
  walk(all)
  return labels
}

const LABELS = labelsOf({
  ...PLAN_MEMBERS,
  ...Object.assign({}, ...Object.values(RULE_KINDS).map((one) => one.members)),
})

/** Writes a name or a value that a sentence of the API has in backticks. */
function quoted(text: string, labels: Labels): string {
  const plain = text.replace(/^"(.*)"$/s, '$1')
  if (/^\d{4}-\d\d-\d\d$/.test(plain)) return dayWords(plain)
  return `“${labels.get(plain) ?? plain}”`
}

/** Says which rate is missing; null if something else is. */
function missingRate(members: readonly string[]): string | null {
  const has = (name: string) => members.includes(name)
  if (has('percent')) return has('amount') ? 'Write a percentage or an amount.' : MISSING.percent
  return has('amount') ? MISSING.amount : null
}

/** Returns a function that writes an error in the words of a form. */
export const plainErrorWith =
  (labels: Labels) =>
  ({ pointer, message, hint, issue }: FieldError): FieldError => {
    const nameOf = (text: string) => quoted(text, labels)
    const at = pointer !== undefined && { pointer }
    if (!issue) {
      const advice = hint && { hint: sentenceWords(hint, nameOf) }
      return { ...at, message: sentenceWords(message, nameOf), ...advice }
    }
    const missing = issue.code === 'choice' ? missingRate(issue.expected?.split(', ') ?? []) : null
    return { ...issueWords(issue, nameOf), ...at, ...(missing && { message: missing }) }
  }

/** Returns an error of the API in the words of the form of a plan. */
export const plainError = plainErrorWith(LABELS)
