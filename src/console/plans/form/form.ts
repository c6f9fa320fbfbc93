import { countryCode, readableCountry } from '../../../commission/engine/country-words.ts'
import {
  decimal,
  isNegative,
  multiply,
  negate,
  plainText,
  quotient,
} from '../../../commission/engine/decimal.ts'
import { minorDigits } from '../../../commission/minor-digits.ts'
import type { FieldError, Values } from '../../../pages/page.ts'
import { readAmount, type Typed } from '../../../pages/typed.ts'
import {
  type Atom,
  type EntryList,
  type Field,
  type Form,
  type Group,
  type Members,
  type OneOf,
  PLAN_MEMBERS,
  RULE_KINDS,
  type RuleKind,
} from './fields.ts'

// A plan as the fields of a form, and back without loss. The name of a field is the JSON pointer of its
// member without the first slash; these characters behind it name what else the form keeps:
//   #  the number of rows          @  the form of a member
//   :  a tick, or all that can be ticked (`:all`)        +  the sign of a factor
//   =  the exact value, as long as what the form shows of it is unchanged
//   ~  one of several forms, before its members

/** The texts of a form, by the names of its fields. */
export type Texts = ReadonlyMap<string, string>

type Json = Readonly<Record<string, unknown>>

/** The most rows of one list that a form shows. */
const MAX_ROWS = 200

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns whether two JSON values are equal. The order of members does not count. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((one, i) => sameJson(one, b[i]))
  }
  if (!isObject(a) || !isObject(b)) return a === b
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]))
  )
}

/** Returns what a form sends that has these texts. */
export const valuesOf =
  (texts: Texts): Values =>
  (name) =>
    texts.get(name) ?? ''

/** Parses JSON that the form has kept; undefined if it is none. */
function parseKept(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What reading a form needs: what was sent, the decimal places of amounts, and where problems go. */
interface Reading {
  readonly values: Values
  readonly digits: number
  readonly problems: FieldError[]
}

/** What showing a form needs: the texts of its fields, which are set, and the decimal places of amounts. */
interface Showing {
  readonly texts: Map<string, string>
  readonly digits: number
}

/** Returns the number of rows of a list. */
export function rowCount(values: Values, path: string): number {
  const count = Number(values(`${path}#`))
  return Number.isInteger(count) && count > 0 ? Math.min(count, MAX_ROWS) : 0
}

/** Returns the path of the members of one of several forms: others have members of the same names. */
export const formPath = (path: string, form: string): string => `${path}~${form}`

/** Returns the pointer of a field. */
export const pointerOf = (name: string): string => `/${name.replace(/~[a-z]+/g, '')}`

// Texts of people, and values of the JSON.

const QUOTED = /[",]|^\s|\s$|^$/

/** Writes a list with commas. An item that has some is put in quotation marks. */
const listText = (items: readonly string[]): string =>
  items.map((item) => (QUOTED.test(item) ? `"${item.replaceAll('"', '""')}"` : item)).join(', ')

/** Reads a list with commas. */
export const listItems = (text: string): string[] =>
  [...text.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^",][^,]*)|("[^,]*))\s*(?:,|$)/g)].map(
    ([, quoted, plain, open]) => quoted?.replaceAll('""', '"') ?? (plain ?? open ?? '').trim(),
  )

const readPercent = (text: string): Typed =>
  readAmount(text.replace(/\s*%\s*$/, ''), 3, 'a percentage. Write it as 12.5')

const HUNDRED = decimal('100')

const isDecimal = (text: string): boolean => /^-?\d{1,15}(?:\.\d{1,6})?$/.test(text)

/** Reads a factor from its sign and the percentage that counts. */
function readTimes(sign: string, part: string): Typed | undefined {
  const minus = sign === 'minus' ? '-' : ''
  if (part === '') return minus ? { value: '-1' } : undefined
  const read = readPercent(part)
  if ('problem' in read || !isDecimal(read.value)) return read
  return { value: plainText(quotient(decimal(`${minus}${read.value}`), HUNDRED, 8)) }
}

/** Returns the percentage and the sign of a factor. */
function showTimes(value: string): readonly [string, string] | null {
  if (!isDecimal(value)) return null
  const factor = decimal(value)
  const minus = isNegative(factor)
  const size = plainText(multiply(minus ? negate(factor) : factor, HUNDRED))
  return [minus && size === '100' ? '' : `${size} %`, minus ? 'minus' : 'plus']
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !/[\r\n]/.test(value) && value.isWellFormed()

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => one === '' || isText(one))

/** Returns the names of what can be ticked. */
export function tickNames(values: Values, path: string): string[] {
  const all = parseKept(values(`${path}:all`))
  return Array.isArray(all) ? all.slice(0, MAX_ROWS).map(String) : []
}

/** Returns what is ticked. */
export const tickedNames = (values: Values, path: string): string[] =>
  tickNames(values, path).filter((name) => values(`${path}:${name}`) !== '')

/** Returns what the fields of an atom have. */
function shownTexts({ is }: Atom, path: string, values: Values): readonly string[] {
  if (is === 'times') return [values(path).trim(), values(`${path}+`) || 'plus']
  return is === 'ticks' ? tickedNames(values, path).sort() : [values(path)]
}

/** Sets the fields of an atom, unless they cannot show the value. */
function showAtom(atom: Atom, path: string, value: unknown, { texts }: Showing): void {
  if (atom.is === 'ticks') {
    if (!isTexts(value)) return
    texts.set(`${path}:all`, JSON.stringify([...new Set(value)]))
    for (const one of value) texts.set(`${path}:${one}`, 'on')
    return
  }
  if (atom.is === 'times') {
    const [text, sign] = (isText(value) && showTimes(value)) || []
    if (text !== undefined) texts.set(path, text)
    if (sign) texts.set(`${path}+`, sign)
    return
  }
  const text = atomText(atom, value)
  if (text !== null) texts.set(path, text)
}

/** Returns the text of a field; null if it cannot show the value. */
function atomText(atom: Atom, value: unknown): string | null {
  switch (atom.is) {
    case 'list':
      return isTexts(value) ? listText(atom.of ? value.map(readableCountry) : value) : null
    case 'whole':
      return typeof value === 'number' || isText(value) ? String(value) : null
    case 'flag':
      return typeof value === 'boolean' ? String(value) : null
    case 'choice':
      return atom.options.some(([one]) => one === value) ? String(value) : null
    case 'day':
      return isText(value) && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))
        ? value
        : null
    case 'percent':
      return isText(value) ? (isDecimal(value) ? `${value} %` : value) : null
    default:
      return isText(value) ? value : null
  }
}

/** Reads what a person typed into a field; undefined if it is empty. */
function readTyped(
  atom: Atom,
  path: string,
  { values, digits }: Reading,
): Typed | string[] | boolean | number | undefined {
  if (atom.is === 'ticks') {
    const names = tickedNames(values, path)
    return names.length > 0 ? names : undefined
  }
  const text = values(path).trim()
  if (atom.is === 'times') return readTimes(values(`${path}+`), text)
  if (text === '') return undefined
  switch (atom.is) {
    case 'amount':
      return readAmount(text, digits)
    case 'percent':
      return readPercent(text)
    case 'list':
      return atom.of ? listItems(text).map(countryCode) : listItems(text)
    case 'flag':
      return text === 'true'
    case 'whole': {
      const read = readAmount(text, 0)
      const isWhole = 'value' in read && /^-?\d{1,15}$/.test(read.value)
      return isWhole ? Number(read.value) : { problem: `“${text}” is not a whole number.` }
    }
    default:
      return { value: text }
  }
}

/** Reads an atom. A text that cannot be understood stays as it is, and is a problem. */
function readAtom(atom: Atom, path: string, reading: Reading): unknown {
  const exact = parseKept(reading.values(`${path}=`))
  if (Array.isArray(exact) && sameJson(exact[0], shownTexts(atom, path, reading.values))) {
    return exact[1]
  }
  const typed = readTyped(atom, path, reading)
  if (typeof typed !== 'object' || Array.isArray(typed)) return typed
  if ('value' in typed) return typed.value
  reading.problems.push({ pointer: pointerOf(path), message: typed.problem })
  return reading.values(path)
}

/** Keeps the exact value of an atom if what it shows would be read as another one. */
function keepExact(atom: Atom, path: string, value: unknown, { texts, digits }: Showing) {
  const values = valuesOf(texts)
  const problems: FieldError[] = []
  const read = readAtom(atom, path, { values, digits, problems })
  const isUnclear = problems.length > 0 && typeof value === 'string' && isDecimal(value)
  const isOrdered = atom.is === 'ticks' && Array.isArray(value) && value.length > 1
  if (sameJson(read, value) && !isOrdered && !isUnclear) return
  texts.set(`${path}=`, JSON.stringify([shownTexts(atom, path, values), value]))
}

// All fields.

/** Sets the fields that show a value. What no field can show is left out. */
function show(field: Field, path: string, value: unknown, showing: Showing): void {
  const { texts } = showing
  if (field.is === 'rows') {
    const { key, item } = field
    const rows = key
      ? Object.entries(Object(value)).map(([name, one]) => ({ [key]: name, ...Object(one) }))
      : value
    if (!Array.isArray(rows)) return
    texts.set(`${path}#`, String(rows.length))
    for (const [i, one] of rows.entries()) show(item, `${path}/${i}`, one, showing)
  } else if (field.is === 'group' || field.is === 'oneOf') {
    if (!isObject(value)) return
    if (field.is === 'group') showMembers(field.members, path, value, showing)
    else {
      const [name, form] =
        Object.entries(field.forms).find(([one]) => Object.hasOwn(value, one)) ?? []
      if (!name || !form) return
      texts.set(`${path}@`, name)
      showMembers(form.members, formPath(path, name), value, showing)
    }
  } else {
    showAtom(field, path, value, showing)
    keepExact(field, path, value, showing)
  }
}

const below = (path: string, name: string) => (path === '' ? name : `${path}/${name}`)

function showMembers(members: Members, path: string, value: Json, showing: Showing): void {
  for (const [name, field] of Object.entries(members)) {
    if (Object.hasOwn(value, name)) show(field, below(path, name), value[name], showing)
  }
}

/** Reads a field; undefined if it is empty. */
function read(field: Field, path: string, reading: Reading): unknown {
  switch (field.is) {
    case 'group':
      return readGroup(field, path, reading)
    case 'rows':
      return readRows(field, path, reading)
    case 'oneOf':
      return readOneOf(field, path, reading)
    default:
      return readAtom(field, path, reading)
  }
}

/** Returns an object of the members that have a value. */
function readMembers(members: Members, path: string, reading: Reading): Record<string, unknown> {
  const entries = Object.entries(members).map(
    ([name, field]) => [name, read(field, below(path, name), reading)] as const,
  )
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function readGroup({ members }: Group, path: string, reading: Reading): unknown {
  const found = readMembers(members, path, reading)
  return Object.keys(found).length > 0 ? found : undefined
}

function readRows({ item, one, key }: EntryList, path: string, reading: Reading): unknown {
  const count = rowCount(reading.values, path)
  if (count === 0) return undefined
  const rows = Array.from({ length: count }, (_, i) => read(item, `${path}/${i}`, reading) ?? {})
  if (!key) return rows
  const entries = new Map<string, object>()
  for (const [i, row] of rows.entries()) {
    const { [key]: name = '', ...others } = Object(row)
    const message = entries.has(name)
      ? `This ${one} stands above already.`
      : `Write the ${one}, or remove this row.`
    if (name === '' || entries.has(name)) {
      reading.problems.push({ pointer: `/${path}/${i}/${key}`, message })
    }
    entries.set(name, others)
  }
  return Object.fromEntries(entries)
}

/** Returns the form of a member that is chosen. */
export function chosenForm({ forms }: OneOf, path: string, values: Values): [string, Form] | null {
  const name = values(`${path}@`)
  const form = Object.hasOwn(forms, name) ? forms[name] : undefined
  return form ? [name, form] : null
}

function readOneOf(field: OneOf, path: string, reading: Reading): unknown {
  const [name, form] = chosenForm(field, path, reading.values) ?? []
  if (!name || !form) return undefined
  return form.fixed ?? readMembers(form.members, formPath(path, name), reading)
}

// Plans and their rules.

/** Returns the kind of the rule at a path; null if the form does not know it. */
export function ruleKind(values: Values, path: string): RuleKind | null {
  const kind = values(`${path}/kind`)
  return (Object.hasOwn(RULE_KINDS, kind) && RULE_KINDS[kind]) || null
}

/** What is said of a rule that lacks its rate. */
export const MISSING = {
  amount: 'Write an amount.',
  percent: 'Write a percentage.',
  tiers: 'Add at least one step.',
} as const

const isRate = (name: string): name is keyof typeof MISSING => Object.hasOwn(MISSING, name)

function readRule(path: string, reading: Reading): Json {
  const kind = ruleKind(reading.values, path)
  if (!kind) return {}
  const chosen = reading.values(`${path}@pays`)
  const others = new Set(kind.pays.flatMap(([name]) => (name === chosen ? [] : [name])))
  const members = Object.entries(kind.members).filter(([name]) => !others.has(name))
  const found = readMembers(Object.fromEntries(members), path, reading)
  if (isRate(chosen) && !Object.hasOwn(found, chosen)) {
    reading.problems.push({ pointer: `/${path}/${chosen}`, message: MISSING[chosen] })
  }
  return { kind: reading.values(`${path}/kind`), ...found }
}

/** What was typed of a plan: the terms, and what cannot be understood. Such a text is in the terms as it was typed. */
export interface TypedTerms {
  readonly terms: Json
  readonly problems: readonly FieldError[]
}

/** Returns the terms of a plan that a form has. */
export function termsOf(values: Values): TypedTerms {
  const problems: FieldError[] = []
  const reading = { values, digits: minorDigits(values('currency').trim()), problems }
  const found = readMembers(PLAN_MEMBERS, '', reading)
  const rules = Array.from({ length: rowCount(values, 'rules') }, (_, i) =>
    readRule(`rules/${i}`, reading),
  )
  return { terms: { ...found, rules }, problems }
}

/** Returns what the fields of members have, and what cannot be understood. Amounts have so many decimal places. */
export function readFields(
  members: Members,
  values: Values,
  digits: number,
): { readonly value: Record<string, unknown>; readonly problems: readonly FieldError[] } {
  const problems: FieldError[] = []
  return { value: readMembers(members, '', { values, digits, problems }), problems }
}

/** Returns the fields of members that show an object. */
export function showFields(members: Members, value: Json, digits: number): Texts {
  const texts = new Map<string, string>()
  showMembers(members, '', value, { texts, digits })
  return texts
}

/** Returns the fields of a form that show the terms of a plan. */
export function formOf(terms: unknown): Texts {
  const { rules, ...others } = Object(terms)
  const digits = minorDigits(typeof others.currency === 'string' ? others.currency : '')
  const texts = new Map(showFields(PLAN_MEMBERS, others, digits))
  const shown = Array.isArray(rules) ? rules.slice(0, MAX_ROWS) : []
  texts.set('rules#', String(shown.length))
  for (const [i, one] of shown.entries()) {
    const path = `rules/${i}`
    const rule: Json = Object(one)
    texts.set(`${path}/kind`, String(rule.kind))
    const kind = ruleKind(valuesOf(texts), path)
    if (!kind) continue
    const rates = kind.pays.map(([name]) => name)
    texts.set(`${path}@pays`, rates.find((name) => Object.hasOwn(rule, name)) ?? rates[0] ?? '')
    showMembers(kind.members, path, rule, { texts, digits })
  }
  return texts
}

// Rows that people add and remove.

/** Returns the values of a form with one row more; `first` are the fields of that row, by what follows its name. */
export function withRow(
  values: Values,
  path: string,
  first: Readonly<Record<string, string>> = {},
): Values {
  const count = rowCount(values, path)
  const added = `${path}/${count}`
  return (name) => {
    if (name === `${path}#`) return String(count + 1)
    if (!name.startsWith(added)) return values(name)
    // What was typed into a row that was removed before must not come back.
    return /^\d/.test(name.slice(added.length))
      ? values(name)
      : (first[name.slice(added.length)] ?? '')
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
