import type { Grant } from '../auth/grant.ts'
import type { Shelf } from '../db/records/record-table.ts'
import type { Parcel } from '../db/records/store-delivery.ts'
import type { Issue } from '../validation/issue.ts'
import type { Entity } from '../validation/record-validator.ts'
import { MAX_PER_RECORD } from '../validation/record-validator.ts'
import { type Form, pointerOf } from './envelope.ts'
import type { Judged } from './validate-records.ts'

/** A resource, as far as writing it is concerned: how it is judged and where it is kept. */
export interface Intake {
  /** The noun in its address. */
  readonly name: string
  readonly shelf: Shelf
  /** The member by which the database may refuse a record; none: it is the record as a whole. */
  readonly reference: string | null
  /** Why it does. */
  readonly refusal: Pick<Issue, 'code' | 'expected'>
  /** What it is judged by; where that depends on the account, the gate is waited for. */
  readonly entity: (admitted: Promise<Grant>) => Entity | Promise<Entity>
  /** What is kept of the records; it may add warnings to those that are good. */
  readonly rowsOf: (judged: Judged, arrival: Arrival) => Promise<Rows>
  /** A record's key as it was sent, of the columns of its key; null: it was no good. */
  readonly keyFrom: (values: readonly (string | null)[]) => Record<string, string> | undefined
  /** What the account wants done with a record that refers to what is not known. */
  readonly policy: (grant: Grant) => Parcel['policy']
  /** Whether an Idempotency-Key makes a request repeatable. */
  readonly repeatable: boolean
}

/** What is kept of a request: see `Parcel`. */
export type Rows = Pick<Parcel, 'rows' | 'later' | 'strays'>

/** Whose request it is, and what is known of it beside its records. */
export interface Arrival {
  env: Env
  grant: Grant
  id: string
  receivedAt: number
  idempotencyKey: string | null
}

/** A record's key, of the columns that keep it; those that were no good are left out. */
export function named(
  names: readonly string[],
  values: readonly (string | null)[],
): Record<string, string> | undefined {
  const sent = names.flatMap((name, i) => (values[i] ? [[name, values[i]] as const] : []))
  return sent.length > 0 ? Object.fromEntries(sent) : undefined
}

/** A record, as far as an issue names it. */
interface Named {
  form: Form
  index: number
  key: Record<string, string> | undefined
}

/** The issue of a record that the database refuses: what it refers to is not known, say. */
export function refusalOf(
  { reference, refusal }: Pick<Intake, 'reference' | 'refusal'>,
  { form, index, key }: Named,
  value: unknown,
): Issue {
  const at = pointerOf(form, index)
  const issue = { index, ...(key && { key }), ...refusal }
  return reference === null
    ? { ...issue, pointer: at }
    : { ...issue, pointer: `${at}/${reference}`, value }
}

/** Errors of the door and of the database in the order of the records, of each as many as may be. */
export function byRecord<T extends { index?: number }>(errors: readonly T[]): T[] {
  const counts = new Map<number | undefined, number>()
  const hasRoom = ({ index }: T) => {
    const count = counts.get(index) ?? 0
    counts.set(index, count + 1)
    return index === undefined || count < MAX_PER_RECORD
  }
  return errors.filter(hasRoom).sort((a, b) => (a.index ?? -1) - (b.index ?? -1))
}
