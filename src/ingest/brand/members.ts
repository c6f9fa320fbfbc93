import type * as v from 'valibot'
import { byteLength } from '../../platform/db/json-chunks.ts'
import { isStorableText } from '../../platform/validation/fields.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { pointerStep } from '../../platform/validation/pointer.ts'
import { validateField } from '../../platform/validation/strict-object.ts'
import { type Warning, warning } from '../../platform/validation/warnings.ts'
import { MAX_EXTRAS_NUMBER, MAX_RECORD_EXTRAS_BYTES } from '../db/storage.ts'

const EXTRAS_LIMIT = `at most ${MAX_RECORD_EXTRAS_BYTES / 1024} KiB of additional fields`
const EXTRAS_NUMBER_LIMIT = `at most ${MAX_EXTRAS_NUMBER} additional fields`

/** How to send more fields than the limits allow. */
export const COMBINE_FIELDS =
  'Combine related fields in one field whose value is an object or an array.'

/** The issues and the valid values of one record while its members are read. */
export interface RecordReading {
  issues: Issue[]
  /** Valid values by column. */
  output: Record<string, unknown>
}

/**
 * Returns the members of a record that are not null: in the brand API null means left out. A map is
 * safe for any name, `__proto__` included.
 */
export const membersOf = (record: object): Map<string, unknown> =>
  new Map(Object.entries(record).filter(([, value]) => value !== null))

/** Validates one member, if present, and stores its value under `column`. */
export function readField(
  { issues, output }: RecordReading,
  members: Map<string, unknown>,
  name: string,
  column: string,
  field: v.GenericSchema,
  personal?: ReadonlySet<string>,
): void {
  const value = members.get(name)
  if (value === undefined) return
  const result = validateField(name, value, field, personal)
  if (result.issue) issues.push(result.issue)
  else output[column] = result.output
}

/** The correct spelling of names, by their folded form. */
export type Spelling = ReadonlyMap<string, string>

/** Returns what is left of a name without letter case, `_` and `-`. */
const fold = (name: string) => name.toLowerCase().replace(/[_-]/g, '')

const isSameInLowerCase = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** Returns the spelling of these names. */
export const toSpelling = (names: readonly string[]): Spelling =>
  new Map(names.map((name) => [fold(name), name]))

/** Returns the names that are not known, but similar to a known one. */
const findSimilar = (names: Iterable<string>, spelling: Spelling) =>
  [...names].flatMap((name) => {
    const correct = spelling.get(fold(name))
    return correct === undefined || correct === name ? [] : [{ name, correct }]
  })

/**
 * Returns an issue for each required member that is missing, and for each member whose name differs
 * from a known one only by case: it would be ignored. `isExempt` names may have any case.
 */
export function findNameErrors(
  members: Map<string, unknown>,
  spelling: Spelling,
  required: readonly string[],
  isExempt: (name: string) => boolean,
): Issue[] {
  const missing = new Set(required.filter((name) => !members.has(name)))
  const similar = findSimilar(members.keys(), spelling).filter(({ name }) => !isExempt(name))
  return [
    ...[...missing].map((name): Issue => {
      const isMisspelt = similar.some(({ correct }) => correct === name)
      return {
        pointer: pointerStep(name),
        code: 'required',
        ...(isMisspelt && { suggestions: [name] }),
      }
    }),
    ...similar
      .filter(({ name, correct }) => isSameInLowerCase(name, correct) && !missing.has(correct))
      .map(({ name, correct }): Issue => {
        return { pointer: pointerStep(name), code: 'field_case', suggestions: [correct] }
      }),
  ]
}

/** Returns a warning for each stored name that differs from a known one only by case, `_` and `-`. */
export const similarNameWarnings = (names: Iterable<string>, spelling: Spelling): Warning[] =>
  findSimilar(names, spelling).map(({ name, correct }) => {
    const code = isSameInLowerCase(name, correct) ? 'field_case' : 'similar_field'
    return warning(code, pointerStep(name), name, correct)
  })

/** Returns an issue for each member that cannot be stored as sent, at the first invalid value in it. */
const findInvalidValues = (members: readonly (readonly [string, unknown])[]): Issue[] =>
  members.flatMap(([name, value]) => findInvalidValue(name, value, '') ?? [])

/** Returns the issues of the unknown members of a record: those that cannot be stored, and their size. */
export const checkExtras = (extras: readonly (readonly [string, unknown])[]): Issue[] => [
  ...findInvalidValues(extras),
  ...checkExtraSize(extras),
]

/** Returns an issue if a record has more than 64 unknown members. */
export function checkExtraNumber(extras: readonly unknown[]): Issue[] {
  if (extras.length <= MAX_EXTRAS_NUMBER) return []
  const received = String(extras.length)
  const instruction = COMBINE_FIELDS
  return [{ pointer: '', code: 'length', expected: EXTRAS_NUMBER_LIMIT, received, instruction }]
}

/** Returns an issue if the unknown members of a record exceed 16 KiB. */
function checkExtraSize(extras: readonly (readonly [string, unknown])[]): Issue[] {
  const bytes = byteLength(JSON.stringify(Object.fromEntries(extras)))
  if (bytes <= MAX_RECORD_EXTRAS_BYTES) return []
  return [{ pointer: '', code: 'length', expected: EXTRAS_LIMIT, received: `${bytes} bytes` }]
}

/** Returns the first issue within a value, depth first, or null. `parent` is a JSON pointer. */
function findInvalidValue(name: string, value: unknown, parent: string): Issue | null {
  const issue = (code: Issue['code']): Issue => ({
    pointer: parent + pointerStep(name),
    isInAdditionalField: true,
    code,
  })
  if (!isStorableText(name)) return issue('text')
  if (typeof value === 'string') return isStorableText(value) ? null : issue('text')
  if (typeof value === 'number') {
    // `parseJson` turns a number with more digits than a double holds into NaN.
    if (Number.isNaN(value)) return issue('digits')
    return Number.isFinite(value) ? null : issue('number')
  }
  if (typeof value !== 'object' || value === null) return null
  const pointer = parent + pointerStep(name)
  for (const [key, member] of Object.entries(value)) {
    const found = findInvalidValue(key, member, pointer)
    if (found) return found
  }
  return null
}
