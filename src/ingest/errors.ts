import type { Issue } from '../platform/validation/issue.ts'
import {
  type FormattedIssue,
  formatIssue,
  formatUnquoted,
} from '../platform/validation/messages.ts'
import { mapPointer } from '../platform/validation/pointer.ts'
import { MAX_LISTED_PER_RECORD } from '../platform/validation/record-validator.ts'
import { validateField } from '../platform/validation/strict-object.ts'
import type { Decision } from './db/decide.ts'
import type { BodyForm, Delivery, Item } from './db/item.ts'
import { HELD_LIMITS } from './db/storage.ts'
import type { Attempt } from './db/write-delivery.ts'
import { recordPointer } from './envelope.ts'
import type { Resource } from './resource/resource.ts'

/** The issue of an Idempotency-Key that was used for other records. */
export const REUSED: Issue = { pointer: '', code: 'idempotency_key_reused' }

/** Returns the issues of a decided request: of the body, of validation, and of references that are refused. */
export function issuesOf(resource: Resource, delivery: Delivery, decision: Decision): Issue[] {
  if (decision.isReused) return [REUSED]
  const refused = (item: Item) => decision.refusesUnknown && item.isRefusable
  return [
    ...delivery.issues,
    ...delivery.items.flatMap(({ issues }) => issues),
    ...delivery.items
      .filter(refused)
      .map((item) => referenceIssue(resource, delivery, item, decision.isHoldFull)),
  ]
}

/**
 * Returns the issue of a record that the database refuses, such as one of an unknown customer. `isHoldFull` tells whether
 * it would be held if the account had fewer held records.
 */
export function referenceIssue(
  { referenceMember, referenceIssue: rule }: Resource,
  { form }: Delivery,
  { index, key, first, reference }: Item,
  isHoldFull: boolean,
): Issue & { index: number } {
  const pointer = recordPointer(form, index)
  const limit = isHoldFull && {
    expected: `at most ${HELD_LIMITS.account.toLocaleString('en')} held records`,
  }
  const issue = { index, ...(key && { key }), ...rule, ...limit }
  if (referenceMember === null) return { ...issue, pointer }
  // Of records with one key the last has the reference that is stored.
  const value = (first ?? { reference }).reference
  return { ...issue, pointer: `${pointer}/${referenceMember}`, ...(value !== null && { value }) }
}

/** An error; `index` is the position of its record, absent for an error of the whole body. */
interface RecordError {
  index?: number
}

/**
 * Returns errors in the order in which a limited list takes them: the first error of each record,
 * then the second of each, and so on up to 10, so that every invalid record is named. Errors of the
 * whole body come first in their round and are not limited to 10.
 */
export function prioritizeErrors<T extends RecordError>(errors: readonly T[]): T[] {
  const counts = new Map<number | undefined, number>()
  const rounds: T[][] = []
  for (const error of errors) {
    const round = counts.get(error.index) ?? 0
    counts.set(error.index, round + 1)
    if (error.index !== undefined && round >= MAX_LISTED_PER_RECORD) continue
    const sameRound = rounds[round]
    if (sameRound) sameRound.push(error)
    else rounds[round] = [error]
  }
  return rounds.flatMap(inRecordOrder)
}

/** Returns errors in the order of their records; errors of the whole body come first. */
export const inRecordOrder = <T extends RecordError>(errors: readonly T[]): T[] =>
  errors.toSorted((a, b) => (a.index ?? -1) - (b.index ?? -1))

/** The contract: a delivery in full lists at most 100 errors and 64 KiB of them. */
const MAX_LISTED_ERRORS = 100
const MAX_LISTED_BYTES = 65_536

/**
 * Returns the first errors of a decided request, for the log of deliveries, and the codes of all; null if there are none.
 * The log must hold nothing that an erasure would have to remove: its rows cannot be found by their customer. So of the
 * values as sent it keeps only ids, and it names no additional field of a brand.
 */
export function describeErrors(
  resource: Resource,
  delivery: Delivery,
  decision: Decision,
): Attempt['errors'] {
  if (decision.errorsTotal === 0) return null
  const issues = issuesOf(resource, delivery, decision)
  const listed = prioritizeErrors(issues)
    .slice(0, MAX_LISTED_ERRORS)
    .map((issue) => formatLogged(issue, resource, delivery.form))
  return {
    json: JSON.stringify(inRecordOrder(withinLogBytes(listed))),
    codes: [...new Set(issues.map(({ code }) => code))],
  }
}

/** The issues that quote an id alone. */
const QUOTED: readonly string[] = [
  'unknown_customer',
  'unknown_affiliate',
] satisfies Issue['code'][]

/** Returns an issue with the key, the pointer and the message that the log keeps. */
function formatLogged(issue: Issue, resource: Resource, form: BodyForm): FormattedIssue {
  const { key: _, ...others } = issue
  const key = loggedKeyOf(issue, resource)
  const logged = { ...others, ...(key && { key }), pointer: loggedPointer(issue, form) }
  return QUOTED.includes(issue.code) ? formatIssue(logged) : formatUnquoted(logged)
}

/** The log of deliveries keeps at most this many characters of an id. */
const MAX_LOGGED_TEXT = 40

/** Returns a text of at most 40 characters, and `…` if it is longer. */
export function shortenLogged(text: string): string {
  if (text.length <= MAX_LOGGED_TEXT) return text
  // Twice as many units of UTF-16 have at least as many characters.
  const characters = [...text.slice(0, 2 * MAX_LOGGED_TEXT + 1)]
  if (characters.length <= MAX_LOGGED_TEXT) return text
  return `${characters.slice(0, MAX_LOGGED_TEXT).join('')}…`
}

/** Returns the pointer that the log keeps. */
const loggedPointer = ({ pointer, index, isInAdditionalField }: Issue, form: BodyForm): string =>
  isInAdditionalField && index !== undefined
    ? recordPointer(form, index)
    : mapPointer(pointer, shortenLogged)

/** Returns the valid ids of a record's key, shortened; undefined if there are none. */
function loggedKeyOf({ key }: Issue, { fields, loggedKey }: Resource): Issue['key'] {
  const members = Object.entries(key ?? {}).filter(
    ([name, value]) => loggedKey.includes(name) && isValid(fields, name, value),
  )
  if (members.length === 0) return undefined
  return Object.fromEntries(members.map(([name, value]) => [name, shortenLogged(value)]))
}

function isValid(fields: Resource['fields'], name: string, value: string): boolean {
  const field = fields[name]
  return field !== undefined && validateField(name, value, field).issue === null
}

/** Returns the first errors that fit into a response. */
function withinLogBytes(errors: readonly FormattedIssue[]): FormattedIssue[] {
  let bytes = '[]'.length
  const end = errors.findIndex((error) => {
    bytes += new TextEncoder().encode(JSON.stringify(error)).length + ','.length
    return bytes > MAX_LISTED_BYTES
  })
  return errors.slice(0, end < 0 ? errors.length : end)
}
