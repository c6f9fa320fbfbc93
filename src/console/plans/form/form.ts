import type { FieldError, Values } from '../../../pages/base/page.ts'
import { readAmount } from '../../../platform/money/typed.ts'
import {
  type Atom,
  type Field,
  type Form,
  type Members,
  type OneOf,
  planMembers,
} from './fields.ts'

// A plan as the fields of a form, and back without loss. The name of a field is the JSON pointer of its
// member without the first slash; these characters behind it name what else the form keeps:
//   #  the number of rows          @  the form of a member
//   :  what is ticked, by position
//   =  the text that is stored, as long as it is unchanged: `1.125` may be a thousand if somebody types it

/** The texts of a form, by the names of its fields. */
export type Texts = ReadonlyMap<string, string>

type Json = Readonly<Record<string, unknown>>

/** The most rows of one list that a form shows, and the most boxes. */
const MAX_ROWS = 200

/** Returns what a form sends that has these texts. */
export const valuesOf =
  (texts: Texts): Values =>
  (name) =>
    texts.get(name) ?? ''

/** What reading a form needs: what was sent, and where problems go. */
interface Reading {
  readonly values: Values
  readonly problems: FieldError[]
}

/** Returns the number of rows of a list. */
export function rowCount(values: Values, path: string): number {
  const count = Number(values(`${path}#`))
  return Number.isInteger(count) && count > 0 ? Math.min(count, MAX_ROWS) : 0
}

const QUOTED = /[",]|^\s|\s$|^$/

/** Writes a list with commas. An item that has some is put in quotation marks. */
const listText = (items: readonly string[]): string =>
  items.map((item) => (QUOTED.test(item) ? `"${item.replaceAll('"', '""')}"` : item)).join(', ')

/** Reads a list with commas. */
const listItems = (text: string): string[] =>
  [...text.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^",][^,]*)|("[^,]*))\s*(?:,|$)/g)].map(
    ([, quoted, plain, open]) => quoted?.replaceAll('""', '"') ?? (plain ?? open ?? '').trim(),
  )

/** Returns what is ticked. */
export const tickedNames = (values: Values, path: string): string[] =>
  Array.from({ length: MAX_ROWS }, (_, i) => values(`${path}:${i}`)).filter(Boolean)

/** Reads what a person typed into a field. */
function readTyped({ is }: Atom, text: string): { value: unknown } | { problem: string } {
  switch (is) {
    case 'amount':
      return readAmount(text, 2)
    case 'percent':
      return readAmount(text.replace(/\s*%$/, ''), 3, 'a percentage. Write it as 12.5')
    case 'list':
      return { value: listItems(text) }
    case 'flag':
      return { value: text === 'true' }
    case 'whole':
      return /^-?\d{1,15}$/.test(text)
        ? { value: Number(text) }
        : { problem: `“${text}” is not a whole number.` }
    default:
      return { value: text }
  }
}

/** Reads a field of one value. A text that cannot be understood stays as it is, and is a problem. */
function readAtom(atom: Atom, path: string, { values, problems }: Reading): unknown {
  if (atom.is === 'ticks') {
    const ticked = tickedNames(values, path)
    return ticked.length > 0 ? ticked : undefined
  }
  const text = values(path).trim()
  if (text === '') return undefined
  if (text === values(`${path}=`)) return text
  const typed = readTyped(atom, text)
  if ('value' in typed) return typed.value
  problems.push({ pointer: `/${path}`, message: typed.problem })
  return text
}

/** Sets the fields of one value. */
function showAtom(atom: Atom, path: string, value: unknown, texts: Map<string, string>): void {
  if (atom.is === 'ticks' && Array.isArray(value)) {
    for (const [i, one] of value.entries()) texts.set(`${path}:${i}`, String(one))
    return
  }
  const text = atom.is === 'list' && Array.isArray(value) ? listText(value) : String(value ?? '')
  texts.set(path, text)
  if (typeof value !== 'string') return
  const read = readTyped(atom, text)
  if (!('value' in read) || read.value !== value) texts.set(`${path}=`, text)
}

const below = (path: string, name: string) => (path === '' ? name : `${path}/${name}`)

/** Sets the fields that show a value. */
function show(field: Field, path: string, value: unknown, texts: Map<string, string>): void {
  if (field.is === 'group') showMembers(field.members, path, value, texts)
  else if (field.is === 'oneOf') {
    const { forms, tag } = field
    const name = tag
      ? String(Object(value)[tag])
      : Object.keys(forms).find((one) => Object.hasOwn(Object(value), one))
    texts.set(`${path}@`, name ?? '')
    showMembers(chosenForm(field, name ?? '')?.members ?? {}, path, value, texts)
  } else if (field.is === 'rows') {
    const rows = Array.isArray(value) ? value : []
    texts.set(`${path}#`, String(rows.length))
    for (const [i, one] of rows.entries()) show(field.item, `${path}/${i}`, one, texts)
  } else showAtom(field, path, value, texts)
}

function showMembers(members: Members, path: string, value: unknown, texts: Map<string, string>) {
  for (const [name, field] of Object.entries(members)) {
    const own = Object(value)
    if (Object.hasOwn(own, name)) show(field, below(path, name), own[name], texts)
  }
}

/** Reads a field; undefined if it is empty. */
function read(field: Field, path: string, reading: Reading): unknown {
  if (field.is === 'group') {
    const found = readMembers(field.members, path, reading)
    return Object.keys(found).length > 0 ? found : undefined
  }
  if (field.is === 'oneOf') {
    const name = reading.values(`${path}@`)
    const form = chosenForm(field, name)
    const tag = field.tag && { [field.tag]: name }
    return form && { ...tag, ...form.fixed, ...readMembers(form.members, path, reading) }
  }
  if (field.is !== 'rows') return readAtom(field, path, reading)
  const count = rowCount(reading.values, path)
  if (count === 0) return undefined
  return Array.from({ length: count }, (_, i) => read(field.item, `${path}/${i}`, reading) ?? {})
}

/** Returns an object of the members that have a value. */
function readMembers(members: Members, path: string, reading: Reading): Json {
  const entries = Object.entries(members).map(
    ([name, field]) => [name, read(field, below(path, name), reading)] as const,
  )
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** Returns the form of a member that has this name; undefined if there is none. */
export const chosenForm = ({ forms }: OneOf, name: string): Form | undefined =>
  Object.hasOwn(forms, name) ? forms[name] : undefined

/** What was typed: the terms, and what cannot be understood. Such a text is in the terms as it was typed. */
export interface TypedTerms {
  readonly terms: Json
  readonly problems: readonly FieldError[]
}

/** Returns what the fields of members have, and what cannot be understood. */
export function readFields(members: Members, values: Values): TypedTerms {
  const problems: FieldError[] = []
  return { terms: readMembers(members, '', { values, problems }), problems }
}

/** Returns the fields of members that show an object. */
export function showFields(members: Members, value: Json): Texts {
  const texts = new Map<string, string>()
  showMembers(members, '', value, texts)
  return texts
}

/** Returns the terms of a plan that a form has. */
export const termsOf = (values: Values): TypedTerms => readFields(planMembers(), values)

/** Returns the fields of a form that show the terms of a plan. */
export const formOf = (terms: unknown): Texts => showFields(planMembers(), Object(terms))

// Rows that people add and remove.

/** Returns the values of a form with one row more, of a form if its rows have several. */
export function withRow(values: Values, path: string, form: string): Values {
  const count = rowCount(values, path)
  const added = `${path}/${count}`
  return (name) => {
    if (name === `${path}#`) return String(count + 1)
    if (name === `${added}@`) return form
    // What was typed into a row that was removed before must not come back.
    return name.startsWith(`${added}/`) ? '' : values(name)
  }
}

/** Returns the values of a form without a row. */
export function withoutRow(values: Values, path: string, row: number): Values {
  const count = rowCount(values, path)
  return (name) => {
    if (name === `${path}#`) return String(Math.max(count - 1, 0))
    if (!name.startsWith(`${path}/`)) return values(name)
    const [, digits = '', rest = ''] = /^(\d+)(.*)$/s.exec(name.slice(path.length + 1)) ?? []
    const at = Number(digits)
    return digits === '' || at < row ? values(name) : values(`${path}/${at + 1}${rest}`)
  }
}
