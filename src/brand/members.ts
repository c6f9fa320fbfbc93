import type * as v from 'valibot'
import { isStorableText } from '../validation/fields.ts'
import type { Issue } from '../validation/issue.ts'
import { pointerStep } from '../validation/pointer.ts'
import { validateField } from '../validation/strict-object.ts'
import { type Warning, warning } from '../validation/warnings.ts'

/** The contract: the members that we do not know are JSON of at most 16 KiB a record. */
const MAX_EXTRA_BYTES = 16_384
const EXTRAS_LIMIT = `at most ${MAX_EXTRA_BYTES / 1024} KiB of fields of its own`

/** What was found while the members of one record were read; `output` is by column. */
export interface RecordReading {
  issues: Issue[]
  output: Record<string, unknown>
}

/** The members of a record that say anything: null counts as left out. Pairs, for any name may be there. */
export const membersOf = (record: object): Map<string, unknown> =>
  new Map(Object.entries(record).filter(([, value]) => value !== null))

/** Judges one member, if it is there, and keeps it under the name of its column. */
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
  const { issue, output: right } = validateField(name, value, field, personal)
  if (issue) issues.push(issue)
  else output[column] = right
}

/** The right spelling of names, by what they are without their case. */
export type Spelling = ReadonlyMap<string, string>

/** How names are spelt. */
export const toSpelling = (names: readonly string[]): Spelling =>
  new Map(names.map((name) => [name.toLowerCase(), name]))

/**
 * Required members that are not there, and others that are there but for their case: nothing would
 * look for them under that name. `free` may be called as they like.
 */
export function findNameErrors(
  members: Map<string, unknown>,
  right: Spelling,
  required: readonly string[],
  free: (name: string) => boolean,
): Issue[] {
  const missing = new Set(required.filter((name) => !members.has(name)))
  const wrong = [...members.keys()].flatMap((name) => {
    const meant = right.get(name.toLowerCase())
    return meant === undefined || meant === name || free(name) ? [] : [{ name, meant }]
  })
  return [
    ...[...missing].map((name): Issue => {
      const isThere = wrong.some(({ meant }) => meant === name)
      const expected = Array.isArray(members.get('data')) && 'the array itself, not as data'
      return {
        pointer: pointerStep(name),
        code: 'required',
        ...(isThere && { suggestions: [name] }),
        ...(expected && { expected }),
      }
    }),
    ...wrong
      .filter(({ meant }) => !missing.has(meant))
      .map(({ name, meant }): Issue => {
        return { pointer: pointerStep(name), code: 'field_case', suggestions: [meant] }
      }),
  ]
}

/** What is kept under a name that differs from a known one only by its case. */
export const findCaseVariants = (names: Iterable<string>, right: Spelling): Warning[] =>
  [...names].flatMap((name) => {
    const meant = right.get(name.toLowerCase())
    return meant === undefined || meant === name
      ? []
      : [warning('field_case', pointerStep(name), name, meant)]
  })

/** What of members cannot be kept as it was sent. */
export const findInvalidValues = (members: readonly (readonly [string, unknown])[]): Issue[] =>
  members.flatMap(([name, value]) => findInvalidValue(name, value, '') ?? [])

/** Whether the members that we do not know are too much for one record. */
export function checkExtraSize(extras: readonly (readonly [string, unknown])[]): Issue[] {
  if (extras.length === 0) return []
  const bytes = new TextEncoder().encode(JSON.stringify(Object.fromEntries(extras))).length
  return bytes > MAX_EXTRA_BYTES ? [{ pointer: '', code: 'length', expected: EXTRAS_LIMIT }] : []
}

/** The first of what is wrong within a value, however deep. */
function findInvalidValue(name: string, value: unknown, above: string): Issue | null {
  const pointer = above + pointerStep(name)
  if (!isStorableText(name)) return { pointer, code: 'text' }
  if (typeof value === 'string') return isStorableText(value) ? null : { pointer, code: 'text' }
  if (typeof value === 'number') {
    // What was written with more digits than a double keeps is NaN by now: see `parseJson`.
    if (Number.isNaN(value)) return { pointer, code: 'digits' }
    return Number.isFinite(value) ? null : { pointer, code: 'number' }
  }
  if (typeof value !== 'object' || value === null) return null
  for (const [inner, member] of Object.entries(value)) {
    const flaw = findInvalidValue(inner, member, pointer)
    if (flaw) return flaw
  }
  return null
}
